"""Text in canonical form: markup removed, lower case, tokens; see `docs/canonical-form.md`."""
