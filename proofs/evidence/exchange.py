"""The needs as ReqIF, the form in which suppliers exchange requirements.

needs.reqifz has each need with its fields and links; the package reqif writes and reads it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from datetime import date
from typing import Any

from reqif.models.reqif_core_content import ReqIFCoreContent
from reqif.models.reqif_data_type import ReqIFDataTypeDefinitionString, ReqIFDataTypeDefinitionXHTML
from reqif.models.reqif_namespace_info import ReqIFNamespaceInfo
from reqif.models.reqif_req_if_content import ReqIFReqIFContent
from reqif.models.reqif_reqif_header import ReqIFReqIFHeader
from reqif.models.reqif_spec_hierarchy import ReqIFSpecHierarchy
from reqif.models.reqif_spec_object import ReqIFSpecObject, SpecObjectAttribute
from reqif.models.reqif_spec_object_type import ReqIFSpecObjectType, SpecAttributeDefinition
from reqif.models.reqif_spec_relation import ReqIFSpecRelation
from reqif.models.reqif_spec_relation_type import ReqIFSpecRelationType
from reqif.models.reqif_specification import ReqIFSpecification
from reqif.models.reqif_specification_type import ReqIFSpecificationType
from reqif.models.reqif_types import SpecObjectAttributeType
from reqif.object_lookup import ReqIFObjectLookup
from reqif.reqif_bundle import ReqIFBundle, ReqIFZBundle
from reqif.unparser import ReqIFZUnparser

from evidence.needs import FIELDS, LINKS, TYPES

# A STRING of ReqIF has one line; the content has several.
STRING, XHTML = SpecObjectAttributeType.STRING, SpecObjectAttributeType.XHTML
ATTRIBUTES = dict.fromkeys(("title", "status", *FIELDS), STRING) | {"content": XHTML}


def written(needs: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Write the needs of needs.json as needs.reqifz."""
    day = f"{date.today()}T00:00:00Z"

    def defined(kind: str) -> list[SpecAttributeDefinition]:
        return [
            SpecAttributeDefinition(of, f"{kind}.{name}", of.name, None, None, day, name)
            for name, of in ATTRIBUTES.items()
        ]

    def attributes(need: Mapping[str, Any]) -> list[SpecObjectAttribute]:
        div = f"<xhtml:div>{html.escape(need.get('content') or '', quote=False)}</xhtml:div>"
        return [
            SpecObjectAttribute(of, f"{need['type']}.{name}", div if of is XHTML else need[name])
            for name, of in ATTRIBUTES.items()
            if need.get(name)
        ]

    objects = [
        ReqIFSpecObject(name, attributes(need), need["type"], last_change=day)
        for name, need in needs.items()
    ]
    relations = [
        ReqIFSpecRelation(f"{name}.{link}.{other}", link, name, other, last_change=day)
        for name, need in needs.items()
        for link in LINKS
        for other in need.get(link, ())
    ]
    listed = [
        ReqIFSpecHierarchy(identifier=f"in.{name}", spec_object=name, level=1, last_change=day)
        for name in needs
    ]
    types = [ReqIFSpecObjectType(k, None, day, TYPES[k], defined(k)) for k in TYPES]
    types += [ReqIFSpecRelationType(link, None, day, said) for link, (said, _) in LINKS.items()]
    types.append(ReqIFSpecificationType("evidence", None, day, "Evidence"))
    strings = ReqIFDataTypeDefinitionString(STRING.name, None, day, "string", "100000")
    content = ReqIFReqIFContent(
        [strings, ReqIFDataTypeDefinitionXHTML(XHTML.name, None, day, "text")],
        types,
        objects,
        relations,
        [ReqIFSpecification("needs", None, day, "Evidence", None, "evidence", listed)],
    )
    bundle = ReqIFBundle(
        ReqIFNamespaceInfo.create_default(),
        ReqIFReqIFHeader("whycast", None, day, None, "whycast", "1.0", "whycast", "whycast"),
        ReqIFCoreContent(content),
        False,
        ReqIFObjectLookup.empty(),
        [],
    )
    packed: bytes = ReqIFZUnparser.unparse(ReqIFZBundle({"needs.reqif": bundle}, {}))
    return packed
