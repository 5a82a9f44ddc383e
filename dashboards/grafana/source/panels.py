"""Shared by all dashboards: functions that make panels, lay them out in rows of 24 columns, and write the JSON for
Grafana."""
import itertools
import json

TAG = "rightsize"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
SCHEMA_VERSION = 41
# Labels of a job beside its name, which are absent where the job has none.
PLACE = ("namespace", "cluster")
GREEN, YELLOW, RED, BLUE, ORANGE = "green", "yellow", "red", "blue", "orange"


def steps(*pairs):
    """Returns thresholds from a base colour and pairs of (value, colour). Each colour holds from its value on."""
    first, *rest = pairs
    return {"mode": "absolute", "steps": [{"color": first, "value": None}, *({"value": v, "color": c} for v, c in rest)]}


def target(index, query, instant=False, table=False):
    """query: an expression, or (expression, legend)."""
    expr, legend = query if isinstance(query, tuple) else (query, "__auto")
    made = {"refId": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index], "datasource": DATASOURCE, "expr": expr, "legendFormat": legend}
    if instant:
        made.update(instant=True, range=False)
    if table:
        made.update(format="table")
    return made


def panel(kind, title, help_text, size, queries, defaults, options, instant=False, table=False, **more):
    assert help_text, f"{title}: a panel says what it shows"
    width, height = size
    return {"type": kind, "title": title, "description": help_text, "datasource": DATASOURCE,
            "gridPos": {"h": height, "w": width, "x": 0, "y": 0},
            "targets": [target(i, q, instant, table) for i, q in enumerate(queries)],
            "fieldConfig": {"defaults": defaults, "overrides": more.pop("overrides", [])}, "options": options, **more}


def overrides(rules):
    """{name of a series, or /regular expression/: {property: value}}"""
    return [{"matcher": {"id": "byRegexp" if name.startswith("/") else "byName", "options": name},
             "properties": [{"id": k, "value": v} for k, v in rule.items()]} for name, rule in rules.items()]


def graph(title, unit, *queries, help_text="", size=(12, 8), stack=False, bars=False, least=0, lines=None):
    """lines: {name of a series, or /regular expression/: colour} drawn as dashed limits."""
    dashed = {"custom.lineStyle": {"fill": "dash", "dash": [8, 6]}, "custom.fillOpacity": 0,
              "custom.stacking": {"mode": "none", "group": "A"}}
    custom = {"drawStyle": "bars" if bars else "line", "lineWidth": 1, "fillOpacity": 60 if bars else 12,
              "showPoints": "auto", "spanNulls": False,
              "stacking": {"mode": "normal" if stack else "none", "group": "A"}}
    defaults = {"unit": unit, "color": {"mode": "palette-classic"}, "custom": custom}
    if least is not None:
        defaults["min"] = least
    rules = {name: {**dashed, "color": {"mode": "fixed", "fixedColor": colour}} for name, colour in (lines or {}).items()}
    return panel("timeseries", title, help_text, size, queries, defaults,
                 {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                  "tooltip": {"mode": "multi", "sort": "desc"}}, overrides=overrides(rules))


def stat(title, unit, query, help_text="", size=(4, 4), thresholds=None, mappings=None, links=None, spark=True):
    defaults = {"unit": unit, "color": {"mode": "thresholds"}, "thresholds": thresholds or steps(BLUE), "noValue": "–"}
    if mappings:
        defaults["mappings"] = mappings
    if links:
        defaults["links"] = links
    return panel("stat", title, help_text, size, [query], defaults,
                 {"colorMode": "value", "graphMode": "area" if spark else "none", "justifyMode": "auto", "textMode": "auto",
                  "wideLayout": True, "showPercentChange": False, "percentChangeColorMode": "standard",
                  "orientation": "auto", "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}},
                 instant=not spark)


def bars(title, unit, *queries, help_text="", size=(12, 8), thresholds=None, links=None):
    defaults = {"unit": unit, "min": 0, "color": {"mode": "thresholds"}, "thresholds": thresholds or steps(BLUE)}
    if links:
        defaults["links"] = links
    return panel("bargauge", title, help_text, size, queries, defaults,
                 {"displayMode": "gradient", "orientation": "horizontal", "showUnfilled": True, "valueMode": "color",
                  "namePlacement": "auto", "sizing": "auto", "minVizHeight": 16, "minVizWidth": 8, "maxVizHeight": 300,
                  "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []},
                  "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}, instant=True)


def with_key(expr):
    """Returns the expression with the label key, which every series has. Grafana merges rows by the labels that all columns
    have, and a column whose jobs have no namespace lacks this label."""
    labels = ", ".join(f'"{label}"' for label in PLACE)
    return f'label_join({expr}, "key", "|", {labels})'


def table(title, columns, help_text="", size=(24, 10), keys=("job_name", *PLACE, "instance"), links=None, sort=None, page=None):
    """columns: {heading: (expression, unit)}; all of their series have the labels `keys`, those in PLACE if they have a value.
    links: {label: [link ...]}. page: (expression, link), for a last column with the label page of the expression."""
    headings = list(columns)
    names = {f"Value #{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i]}": heading for i, heading in enumerate(headings)}
    rules = {heading: {"unit": unit} for heading, (_, unit) in columns.items()}
    rules |= {label: {"custom.filterable": True} for label in keys}
    for label, made in (links or {}).items():
        rules[label]["links"] = made
    excluded, renamed = {"Time": True}, dict(names)
    queries = [expr for expr, _ in columns.values()]
    if page:
        excluded[f"Value #{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[len(queries)]}"] = True
        renamed["page"] = "Page"
        rules["Page"] = {"links": [page[1]]}
        queries.append(page[0])
    if set(PLACE) <= set(keys):
        excluded["key"] = True
        queries = [with_key(expr) for expr in queries]
    transformations = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {
            "excludeByName": excluded,
            "indexByName": {name: i for i, name in enumerate([*keys, *renamed])}, "renameByName": renamed}},
    ]
    return panel("table", title, help_text, size, queries,
                 {"custom": {"align": "auto", "cellOptions": {"type": "auto"}, "minWidth": 105}},
                 {"showHeader": True, "cellHeight": "sm", "frameIndex": 0,
                  "sortBy": [{"displayName": sort, "desc": True}] if sort else []},
                 instant=True, table=True, overrides=overrides(rules), transformations=transformations)


def row(title, collapsed=False):
    """Begins a row, which takes the following panels. collapsed: the row's data is queried only when a person opens the
    row."""
    return {"type": "row", "title": title, "collapsed": collapsed, "panels": [], "gridPos": {"h": 1, "w": 24, "x": 0, "y": 0}}


def laid_out(panels):
    """Places panels from left to right. A panel that does not fit begins a new line. Ids begin at 1. The panels of a
    collapsed row are inside the row."""
    top, into, closed = [], None, None  # into: the list that takes the next panel
    x = y = height = 0
    for number, made in enumerate(panels, 1):
        place = made["gridPos"]
        if made["type"] == "row" and closed is not None:
            # The panels of a collapsed row take no room beneath it.
            x, y, height = 0, closed + 1, 0
        if x + place["w"] > 24:
            x, y, height = 0, y + height, 0
        place.update(x=x, y=y)
        x, height = x + place["w"], max(height, place["h"])
        made["id"] = number
        if made["type"] == "row":
            top.append(made)
            closed = y if made["collapsed"] else None
            into = made["panels"] if made["collapsed"] else top
        else:
            (top if into is None else into).append(made)
    return top


def hidden_variable(name, query, regex, help_text):
    """A hidden variable for links: query is query_result(...), and regex picks the value from the first series of
    Prometheus' answer."""
    return {"type": "query", "name": name, "label": name, "description": help_text, "datasource": DATASOURCE,
            "definition": query, "query": {"query": query, "refId": "variable", "qryType": 3}, "regex": regex,
            "refresh": 2, "sort": 0, "multi": False, "includeAll": False, "options": [], "hide": 2, "skipUrlSync": True}


def chosen(name, label, series, help_text):
    """A variable with the values of a label that series may lack. Series without it make an empty choice, which is the first
    one. label_values() would drop it. The query therefore puts a text before each value, and the pattern takes it away."""
    query = f'query_result(count by (choice) (label_replace({series}, "choice", "=$1", "{name}", "(.*)")))'
    return {**hidden_variable(name, query, '/choice="=([^"]*)"/', help_text), "label": label, "sort": 1, "hide": 0, "skipUrlSync": False}


def variable(name, label, query, many=True, help_text=""):
    """A variable with choices from Prometheus: query is label_values(...)."""
    made = {"type": "query", "name": name, "label": label, "description": help_text, "datasource": DATASOURCE,
            "definition": query, "query": {"query": query, "refId": "variable", "qryType": 1},
            "refresh": 2, "sort": 1, "multi": many, "includeAll": many, "options": [], "hide": 0, "skipUrlSync": False}
    if many:
        made.update(allValue=".*", current={"selected": True, "text": ["All"], "value": ["$__all"]})
    return made


def datasource_variable():
    return {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus", "refresh": 1,
            "options": [], "hide": 0, "multi": False, "includeAll": False, "skipUrlSync": False}


def annotation(name, colour, expr, title, text="", at_value=False):
    """at_value: the expression's value, in milliseconds, is the time."""
    return {"name": name, "datasource": DATASOURCE, "enable": True, "hide": False, "iconColor": colour, "expr": expr,
            "titleFormat": title, "textFormat": text, "useValueForTime": at_value}


def link(title, url, new_tab=False):
    return {"title": title, "url": url, "targetBlank": new_tab}


def page_link(title, url, help_text):
    return {"type": "link", "title": title, "url": url, "icon": "external link", "tooltip": help_text, "tags": [],
            "asDropdown": False, "includeVars": False, "keepTime": False, "targetBlank": True}


def others_link():
    return {"type": "dashboards", "title": "Right-sizing", "url": "", "icon": "external link", "tooltip": "", "tags": [TAG],
            "asDropdown": True, "includeVars": False, "keepTime": True, "targetBlank": False}


def dashboard(uid, title, help_text, variables, annotations, panels, links=(), since="now-6h"):
    grafana = {"builtIn": 1, "name": "Annotations & Alerts", "type": "dashboard", "enable": True, "hide": True,
               "iconColor": "rgba(0, 211, 255, 1)", "datasource": {"type": "grafana", "uid": "-- Grafana --"}}
    return {"uid": uid, "title": title, "description": help_text, "tags": [TAG], "editable": True, "graphTooltip": 1,
            "schemaVersion": SCHEMA_VERSION, "version": 1, "refresh": "30s", "timezone": "browser", "fiscalYearStartMonth": 0,
            "time": {"from": since, "to": "now"}, "timepicker": {}, "links": [others_link(), *links],
            "templating": {"list": [datasource_variable(), *variables]},
            "annotations": {"list": [grafana, *annotations]}, "panels": laid_out(list(panels))}


def text_of(made):
    """Returns the JSON text with one line for each panel, so that a diff shows the changed panel."""
    def panel_text(made):
        inner = made.get("panels")
        if not inner:
            return json.dumps(made, ensure_ascii=False)
        outer = json.dumps({**made, "panels": []}, ensure_ascii=False)
        return outer.replace('"panels": []', '"panels": [\n   ' + ",\n   ".join(panel_text(p) for p in inner) + "]", 1)

    def value(key, content):
        if key != "panels":
            return json.dumps(content, ensure_ascii=False)
        return "[\n  " + ",\n  ".join(panel_text(p) for p in content) + "\n ]"
    return "{\n" + ",\n".join(f" {json.dumps(k)}: {value(k, v)}" for k, v in made.items()) + "\n}\n"


def flat(lists):
    return list(itertools.chain.from_iterable(lists))
