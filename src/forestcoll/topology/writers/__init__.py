"""Networks in the formats of other tools, one format a file; `formats` finds the format by the ending of the name."""
