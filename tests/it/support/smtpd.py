"""A mail server for tests, with Debian's aiosmtpd: smtpd.py FOLDER PORT [CERTIFICATE KEY TLS].

It prints its port. The file FOLDER/mode says how it answers, from one command to the next:
accept; refuse (550 to RCPT); refuse_text (554 to the text); greylist (450 to the first RCPT of each recipient);
later (451 to the text); slow (accepts the text and answers nothing for a minute); busy (421 to MAIL).
Each accepted message is a line of FOLDER/messages: JSON with from, to and text.
TLS is `smtps` (from the start) or `starttls`.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

folder, port, *tls = sys.argv[1:]
greylisted = set()


def mode():
    with open(f"{folder}/mode") as file:
        return file.read().strip()


class Handler:
    async def handle_MAIL(self, server, session, envelope, address, options):
        if mode() == "busy":
            return "421 too busy"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if mode() == "refuse":
            return "550 5.1.1 no such user"
        if mode() == "greylist" and address not in greylisted:
            greylisted.add(address)
            return "450 4.2.0 greylisted, try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if mode() == "refuse_text":
            return "554 5.7.1 spam"
        if mode() == "later":
            return "451 4.3.0 later"
        text = envelope.content.decode("utf-8", "surrogateescape")
        line = json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "text": text})
        with open(f"{folder}/messages", "a") as file:
            file.write(line + "\n")
        if mode() == "slow":
            await asyncio.sleep(60)
        return "250 OK"


def log_in(server, session, envelope, mechanism, data):
    is_right = (data.login, data.password) == (b"pay@shop.example", b"p:/@%")
    # Without `handled=False` a refusal would get no reply.
    return AuthResult(success=is_right, handled=False)


async def main():
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls[0], tls[1])
    is_starttls = bool(tls) and tls[2] == "starttls"

    def session():
        options = {"enable_SMTPUTF8": True, "hostname": "mail.example", "ident": "test"}
        if tls:
            options.update(authenticator=log_in, auth_required=True, auth_require_tls=is_starttls)
        if is_starttls:
            options.update(tls_context=context, require_starttls=True)
        return SMTP(Handler(), **options)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        session, "127.0.0.1", int(port), ssl=context if tls and not is_starttls else None
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    # Ends with the test.
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
