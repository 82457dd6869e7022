"""The plugin, as pretix lists it."""

from importlib.metadata import version

from django.utils.translation import gettext_lazy as _
from pretix.base.plugins import PluginConfig

try:
    import coffer_client  # noqa: F401
except ImportError as error:
    raise ImportError(
        "pretix-coffer needs coffer-client. Install both files: pip install ./coffer_client-*.whl ./pretix_coffer-*.whl"
    ) from error


class CofferApp(PluginConfig):
    default = True
    name = "pretix_coffer"
    verbose_name = "Coffer"

    class PretixPluginMeta:
        name = "Coffer"
        author = "Coffer"
        version = version("pretix-coffer")
        category = "PAYMENT"
        description = _("Accept payments in coins with your own Coffer.")
        compatibility = "pretix>=2026.8.0"
        settings_links = [
            ((_("Payment"), "Coffer"), "control:event.settings.payment.provider", {"provider": "coffer"}),
        ]

    def ready(self):
        from . import signals  # noqa: F401
