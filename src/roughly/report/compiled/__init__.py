"""The templates of the page as Python, made by jinja2."""

JINJA2 = "3.1.6"
