"""Programs for runtimes: the model, lowering of schedules, an interpreter that checks them, formats like MSCCL XML."""
