"""Charts in plain SVG: values over a size, bars, the sends of a schedule over time, and Gantt charts.

Each function takes plain numbers and texts, and returns an element of `presentation/pictures/svg.py`. The same values
give the same text.
"""
