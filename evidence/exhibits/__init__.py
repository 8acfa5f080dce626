"""The exhibits of the papers: what each table, figure and theorem prints, next to the results of forestcoll."""
