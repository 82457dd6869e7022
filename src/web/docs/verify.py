import hashlib, hmac, time

def is_signed(secret: str, header: str, body: bytes) -> bool:
    """header: X-Service-Signature as it came; body: the bytes as they came, before any JSON is read."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    at = dict(parts).get("t", "")
    if not at.isdecimal() or abs(time.time() - int(at)) > 300:
        return False
    signed = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), signed.encode()) for name, value in parts)
