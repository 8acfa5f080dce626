"""Pictures of networks and schedules with the sentences that explain them: SVG, PNG and HTML pages."""

from forestcoll.presentation.view.view import View, view, write_view

__all__ = ["View", "view", "write_view"]
