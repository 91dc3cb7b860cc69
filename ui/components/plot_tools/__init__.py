"""What a Plotly chart needs in the browser beside `st.plotly_chart`."""

from ui.components.plot_tools.plot_tools import show

__all__ = ["show"]
