"""The language people read: every sentence of ours passes through here."""

import gettext as _gettext

_catalogue = _gettext.NullTranslations()


def _(text: str) -> str:
    """A sentence of ours in the language of this run; placeholders are filled in afterwards."""
    return _catalogue.gettext(text)


def ngettext(one: str, many: str, number: int) -> str:
    """The same for sentences that depend on a number."""
    return _catalogue.ngettext(one, many, number)
