"""Charts in plain SVG: values over a size, bars, and the sends of a schedule over time.

Each function takes plain numbers and texts, and returns an element of `presentation/pictures/svg.py`. The same values
give the same text.
"""
