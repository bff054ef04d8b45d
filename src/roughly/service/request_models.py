"""The bodies of requests to the API. The service validates them with these models and /openapi.json describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from roughly.service.error_responses import ErrorResponse
from roughly.settings import ReadOptions


def _valid(text: str) -> str:
    """Refuse half of a surrogate pair, which no answer could repeat; pydantic does so only where a length is set."""
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise PydanticCustomError("string_unicode", "is not valid Unicode") from problem
    return text


Text = Annotated[str, AfterValidator(_valid)]
Short = Annotated[str, Field(max_length=100_000)]
_ID = AliasChoices("doc_id", "id")
OptionalId = Annotated[str | None, Field(validation_alias=_ID, max_length=100_000, description="The id of a document.")]
Measure = Literal["resemblance", "containment", "contained_in"]


class _DocumentFields(BaseModel):
    """The fields of a document, each optional."""

    model_config = ConfigDict(populate_by_name=True)

    doc_id: OptionalId = None
    text: Text | None = Field(None, description="The text.")
    title: Short | None = Field(None, description="The title.")
    url: Short | None = Field(None, description="The address.")
    date: Short | None = Field(None, description="The date, in any usual form.")
    source: Short | None = Field(None, description="Where it comes from, such as a site.")
    markup: bool = Field(False, description="Whether the text is HTML.")


class QueryDocument(_DocumentFields):
    """A document that need not have an id."""

    doc_id: str = Field("", validation_alias=_ID, max_length=100_000, description="The id, if it has one.")
    text: Text = Field(description="The text.")
    features: list[str | int] | None = Field(
        None, exclude=True, description="Instead of the text, if the index compares features."
    )

    @model_validator(mode="before")
    @classmethod
    def _text_of_features(cls, given: Any) -> Any:
        listed = given.get("features") if isinstance(given, dict) else None
        if not isinstance(listed, list) or not all(isinstance(item, str | int) for item in listed):
            return given  # what is not a list of features is refused by its type
        from roughly.sources.feature_lists import feature_texts

        if given.get("text") is not None:
            raise ValueError("give a text or features, one of them")
        return {**given, "text": feature_texts([listed])[0].as_py()}

    def check_kind(self, reading: ReadOptions) -> None:
        """Refuse features where the index compares texts."""
        if self.features is not None and reading.features is None:
            raise ErrorResponse(422, "this index compares texts, and the document has features", "send a text")


class NewDocument(QueryDocument):
    """A document to be stored."""

    doc_id: str = Field(
        min_length=1, validation_alias=_ID, max_length=100_000,
        description="The id; a stored document with this id is replaced.",
    )  # fmt: skip


class MatchFilter(BaseModel):
    """Which matches are wanted."""

    limit: int = Field(10, ge=1, le=10_000, description="Matches returned.")
    minimum: float | None = Field(None, ge=0, le=1, description="Lowest value of the measure.")
    measure: Measure | None = Field(None, description="The measure of `minimum`; that of the index, if not given.")
    since: Short | None = Field(None, description="First day of a match's date.")
    until: Short | None = Field(None, description="Last day of it.")
    match_empty: bool = Field(False, description="Whether documents without words match each other.")

    def options(self) -> dict[str, Any]:
        """As `Index.query` takes them."""
        return self.model_dump(include=set(MatchFilter.model_fields))


class CheckRequest(QueryDocument, MatchFilter):
    """A document to be matched without being stored."""

    def document(self) -> dict[str, Any]:
        """The document alone, without the filter."""
        return self.model_dump(include=set(QueryDocument.model_fields))


class IdList(BaseModel):
    """Documents by their ids."""

    ids: list[Annotated[str, Field(min_length=1, max_length=100_000)]] = Field(description="Ids, any number of them.")


class RankedItem(_DocumentFields):
    """A result of a search: an id, or a text, and what else is known."""


class GroupRequest(BaseModel):
    """Results, best first. With texts they are compared on these; without, on what the index stores of them."""

    results: list[RankedItem] = Field(description="The results, the best first.")
    show: Literal["rank", "newest", "oldest", "longest"] = Field("rank", description="Which one of a group is shown.")
    threshold: float | None = Field(None, gt=0, le=1, description="With texts only: an index has its own.")


class CompareSide(BaseModel):
    """A text, or the id of a stored document."""

    text: Text | None = Field(None, description="The text.")
    doc_id: OptionalId = None

    @model_validator(mode="after")
    def _either_text_or_id(self) -> CompareSide:
        if (self.text is None) == (self.doc_id is None):
            raise ValueError("give a text or a doc_id, one of them")
        return self


class CompareRequest(BaseModel):
    """Two documents to be compared."""

    left: CompareSide = Field(description="The first document.")
    right: CompareSide = Field(description="The second document.")
    shingle_size: int = Field(5, ge=1, le=64, description="Words per shingle.")
    diff: bool = Field(True, description="Return the difference word by word as well.")
    context: int | None = Field(None, ge=0, le=1_000_000, description="Words around each change; all, if not given.")
