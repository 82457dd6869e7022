"""Makes the module `coffer_client.types` of the wheel from the OpenAPI document of the program COFFER_BINARY."""

import json
import os
import re
import subprocess
from typing import Any, Dict, Iterator, List

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HEADER = '''"""Types of the requests and answers of Coffer, from its OpenAPI document.

Answers may have fields that a later version adds.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
'''
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

Schema = Dict[str, Any]


class Module:
    """The text of the module, class by class."""

    def __init__(self) -> None:
        self.parts = [HEADER]

    def kind(self, schema: Schema, name: str) -> str:
        """Returns the type of a schema. Adds a class of this name if it is an object with known fields."""
        if "$ref" in schema:
            return str(schema["$ref"]).rsplit("/", 1)[1]
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(repr, values))}]"
        if "oneOf" in schema:
            return self.union([self.kind(each, f"{name}{at}") for at, each in enumerate(schema["oneOf"], 1)])
        if isinstance(schema.get("type"), list):
            # Amounts are text, also in requests.
            known = [each for each in schema["type"] if not (each == "number" and "string" in schema["type"])]
            return self.union([self.kind({**schema, "type": each}, name) for each in known])
        if schema.get("type") == "array":
            return f"List[{self.kind(schema['items'], name + 'Item')}]"
        if schema.get("type") == "object" and schema.get("properties"):
            self.add_class(name, schema)
            return name
        if schema.get("type") == "object":
            return "Dict[str, Any]"
        return SCALARS.get(str(schema.get("type")), "Any")

    def union(self, kinds: List[str]) -> str:
        others = [each for each in kinds if each != "None"]
        joined = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]"
        return joined if len(others) == len(kinds) else f"Optional[{joined}]"

    def add_class(self, name: str, schema: Schema) -> None:
        """Adds the class of an object. Python 3.9 has optional fields only in a class that has no others."""
        fields = schema["properties"]
        required = [each for each in fields if each in schema.get("required", [])]
        optional = [each for each in fields if each not in required]
        base = f"_{name}Required" if required and optional else "TypedDict"
        lines = {each: self.field(f"{name}{each[0].upper()}{each[1:]}", each, fields[each]) for each in fields}
        if required and optional:
            self.parts.append(f"class {base}(TypedDict):\n" + "".join(lines[each] for each in required))
        total = ", total=False" if optional else ""
        about = f"    {text(schema['description'])}\n\n" if "description" in schema else ""
        head = f"class {name}({base}{total}):\n{about}"
        self.parts.append(head + "".join(lines[each] for each in optional or required))

    def field(self, class_name: str, name: str, schema: Schema) -> str:
        about = f"    {text(schema['description'])}\n" if "description" in schema else ""
        return f"    {name}: {self.kind(schema, class_name)}\n{about}"

    def add_events(self, schema: Schema) -> None:
        """Adds a class for the events of each object, so that the type of an event tells that of its object."""
        names = []
        for each in schema["properties"]["data"]["properties"]["object"]["oneOf"]:
            of = self.kind(each, "")
            kinds = [kind for kind in schema["properties"]["type"]["enum"] if kind.split(".")[0] == of.lower()]
            data = {"type": "object", "required": ["object"], "properties": {"object": each}}
            narrowed = {"type": {"enum": kinds}, "data": {**data, "description": f"The object, of type {of}."}}
            self.add_class(f"{of}Event", {**schema, "properties": {**schema["properties"], **narrowed}})
            names.append(f"{of}Event")
        self.parts.append(f"Event = Union[{', '.join(names)}]\n")


def text(description: str) -> str:
    """Returns a docstring."""
    return json.dumps(description, ensure_ascii=False) if re.search(r'["\\]', description) else f'"""{description}"""'


def filters(document: Schema) -> Iterator[Schema]:
    """Yields the query of each list as an object with the name of the operation."""
    for path in document["paths"].values():
        for operation in path.values():
            asked = [each for each in operation.get("parameters", []) if each.get("in") == "query"]
            if asked:
                fields = {each["name"]: {**each["schema"], "description": each["description"]} for each in asked}
                name = operation["operationId"][0].upper() + operation["operationId"][1:]
                about = "The filters of the list. `limit` is the number of items that are read at once."
                yield {"name": name, "type": "object", "properties": fields, "description": about}


def make(document: Schema) -> str:
    """Returns the source of the module for a document."""
    module = Module()
    for name, schema in document["components"]["schemas"].items():
        if name == "Event":
            module.add_events(schema)
        else:
            module.kind(schema, name)
    for each in filters(document):
        module.add_class(each["name"], each)
    return "\n\n".join(module.parts)


class MakeTypes(BuildHookInterface):  # type: ignore[type-arg]
    """Build hook that runs while hatchling builds the wheel."""

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        binary = os.environ.get("COFFER_BINARY", "")
        if not os.path.isfile(binary):
            raise SystemExit("COFFER_BINARY must name the program whose document has the types")
        document = subprocess.run([binary, "openapi", "--merchant"], check=True, stdout=subprocess.PIPE).stdout
        made = os.path.join(self.directory, "types.py")
        os.makedirs(self.directory, exist_ok=True)
        with open(made, "w", encoding="utf-8") as file:
            file.write(make(json.loads(document)))
        build_data["force_include"][made] = "coffer_client/types.py"
        described = f"{self.metadata.core.name.replace('-', '_')}-{self.metadata.version}.dist-info"
        build_data["force_include"][os.path.join(self.root, "../../../../LICENSE")] = f"{described}/licenses/LICENSE"
