"""Schedules on CUDA tensors: time slots of plain operations of torch's own backend. An experiment, off by default."""
