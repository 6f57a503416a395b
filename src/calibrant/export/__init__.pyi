from calibrant.export.c_source import to_c as to_c
from calibrant.export.javascript_source import to_javascript as to_javascript
from calibrant.export.json_text import to_json as to_json

__all__: list[str]
