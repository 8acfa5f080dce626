"""Runs verified schedules between processes: communicators, the engine, launching, and emulated networks."""

from forestcoll.runtime.communicator import Communicator
from forestcoll.runtime.engine.elements import ElementType, ReduceOp
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.work import Work
from forestcoll.runtime.store import MemoryStore, Store, TcpStore

__all__ = ["Communicator", "ElementType", "MemoryStore", "Plan", "ReduceOp", "Store", "TcpStore", "Work", "plan_of"]
