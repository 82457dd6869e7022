"""Accepts TLS connections, and passes their bytes to a local port: CERTIFICATE KEY PORT OWN_PORT."""

import asyncio
import ssl
import sys

certificate, key, port, own_port = sys.argv[1:]


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def relay(reader, writer):
    inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", int(port))
    await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer))


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(relay, "127.0.0.1", int(own_port), ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
