from types import ModuleType

narrow: ModuleType
wide: ModuleType
events: ModuleType
