"""Serves pretix with one event on a free port, for the tests: serve.py FOLDER COFFER. FOLDER has the migrated database.

Prints one line of JSON when it is ready: the address, the token of its REST API, and a login of its backend. Ends with
its standard input.
"""

import json
import logging
import os
import socketserver
import sys
import threading
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

LOGIN = {"email": "organizer@example.com", "password": "a long test password"}


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def seed(coffer_url: str) -> str:
    """Creates an organizer with one event in test mode and one live event. Returns the token of the REST API."""
    from datetime import timedelta
    from decimal import Decimal

    from django.utils.timezone import now
    from django_scopes import scopes_disabled
    from pretix.base.models import Event, Organizer, Team, User

    with scopes_disabled():
        organizer = Organizer.objects.create(name="Example", slug="example")
        user = User.objects.create_user(LOGIN["email"], LOGIN["password"])
        team = Team.objects.create(
            organizer=organizer,
            name="All",
            all_events=True,
            all_event_permissions=True,
            all_organizer_permissions=True,
        )
        team.members.add(user)
        for slug, is_test in (("conf", True), ("live-1", False)):
            event = Event.objects.create(
                organizer=organizer,
                name="Conference",
                slug=slug,
                currency="EUR",
                live=True,
                testmode=is_test,
                date_from=now() + timedelta(days=90),
                plugins="pretix_coffer",
            )
            quota = event.quotas.create(name="All", size=1000)
            quota.items.add(event.items.create(name="Ticket", default_price=Decimal("20.00")))
            event.settings.payment_coffer__enabled = True
            event.settings.payment_coffer_url = coffer_url
            event.settings.payment_coffer_mode = "test" if is_test else "live"
            event.settings.payment_coffer_secret_key = "sk_test_sandbox" if is_test else "sk_live_sandbox"
            event.settings.payment_coffer_webhook_secret = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh"
        return team.tokens.create(name="tests").token


def main() -> None:
    folder, coffer_url = Path(sys.argv[1]), sys.argv[2]
    server = Server(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    os.environ.update(
        DATA_DIR=str(folder),
        PRETIX_CONFIG_FILE="/dev/null",
        DJANGO_SETTINGS_MODULE="pretix.settings",
        PRETIX_PRETIX_URL=url,
        PRETIX_MAIL_FROM="tests@example.com",
    )
    from django.conf import settings
    from pretix.wsgi import application

    logging.disable(logging.WARNING)
    # SQLite has no locks of rows: transactions come one after the other instead.
    settings.DATABASES["default"]["OPTIONS"].update(transaction_mode="IMMEDIATE", timeout=60)
    # Mails stay in this process.
    settings.EMAIL_BACKEND = settings.EMAIL_CUSTOM_SMTP_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    server.set_app(application)
    print(json.dumps({"url": url, "token": seed(coffer_url), **LOGIN}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
