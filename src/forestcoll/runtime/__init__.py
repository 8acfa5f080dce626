"""Runs verified schedules on real processes: NumPy arrays in, NumPy arrays out, over TCP."""

from forestcoll.runtime.communicator import Communicator
from forestcoll.runtime.elements import ElementType, ReduceOp
from forestcoll.runtime.plan import Plan, plan_of
from forestcoll.runtime.store import MemoryStore, Store, TcpStore
from forestcoll.runtime.work import Work

__all__ = ["Communicator", "ElementType", "MemoryStore", "Plan", "ReduceOp", "Store", "TcpStore", "Work", "plan_of"]
