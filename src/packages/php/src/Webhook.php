<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Verification of webhooks.
 *
 * @phpstan-import-type Event from Shapes
 * @phpstan-import-type LegacyEvent from Shapes
 */
final class Webhook
{
    /** Prefix of an endpoint's secret. The base64 text of the key follows, for Standard Webhooks. */
    private const PREFIX = 'whsec_';

    private function __construct()
    {
    }

    /**
     * Returns the event of a webhook that is signed with one of the secrets.
     *
     * Reads `X-Service-Signature` and the headers of Standard Webhooks. One valid signature is enough. Signatures are
     * compared in constant time. The event may be a test event or come twice: look at `livemode` and `id`.
     *
     * @param string $payload raw body, as received: `file_get_contents('php://input')`
     * @param array<string, string|list<string>> $headers names in any case, or those of `$_SERVER`
     * @param string|list<string> $secret secret of the endpoint, or legacy secret for an invoice's own `webhookUrl`.
     *   Several while a secret is changed.
     * @param int $tolerance maximum difference between the time of the signature and now, in seconds
     * @param int|null $now Unix time, in seconds. Default: the clock's time
     * @return Event|LegacyEvent
     * @throws SignatureError if no signature is valid and recent, or the body is not a JSON object
     * @throws \ValueError if there is no secret, or one has no key
     */
    public static function verify(
        string $payload,
        array $headers,
        #[\SensitiveParameter] string|array $secret,
        int $tolerance = 300,
        ?int $now = null,
    ): array {
        $secrets = (array) $secret;
        foreach ($secrets as $each) {
            if (!is_string($each) || self::standardKey($each) === '') {
                throw new \ValueError('secret must not be empty: anybody could sign with it');
            }
        }
        if ($secrets === []) {
            throw new \ValueError('secret must be a text, or a list of at least one');
        }
        $time = self::signedTime($payload, self::normalized($headers), $secrets);
        $away = abs(($now ?? time()) - $time);
        if ($away > $tolerance) {
            throw new SignatureError("the signature is $away s away from now, and $tolerance s are allowed");
        }
        $event = json_decode($payload, true, 512, JSON_BIGINT_AS_STRING);
        if (!is_array($event) || array_is_list($event)) {
            throw new SignatureError('the signature is valid, but the body is not a JSON object');
        }
        return $event;
    }

    /**
     * Returns the time that is signed, in Unix seconds.
     *
     * @param array<string, string> $headers
     * @param list<string> $secrets
     * @throws SignatureError if no signature is valid
     */
    private static function signedTime(
        string $payload,
        array $headers,
        #[\SensitiveParameter] array $secrets,
    ): int {
        $parts = array_map('trim', explode(',', $headers['x-service-signature'] ?? ''));
        $times = preg_grep('/\At=/', $parts);
        $time = count($times) === 1 ? substr(reset($times), 2) : '';
        if (self::isTime($time)) {
            $sign = static fn ($secret) => hash_hmac('sha256', "$time.$payload", $secret);
            $wanted = array_map(static fn ($secret) => 'v1=' . $sign($secret), $secrets);
            if (self::hasCommon($wanted, $parts)) {
                return (int) $time;
            }
        }
        $time = $headers['webhook-timestamp'] ?? '';
        if (self::isTime($time)) {
            $signed = ($headers['webhook-id'] ?? '') . ".$time.$payload";
            $sign = static fn ($secret) => hash_hmac('sha256', $signed, self::standardKey($secret), true);
            $wanted = array_map(static fn ($secret) => 'v1,' . base64_encode($sign($secret)), $secrets);
            if (self::hasCommon($wanted, explode(' ', $headers['webhook-signature'] ?? ''))) {
                return (int) $time;
            }
        }
        $isSigned = isset($headers['x-service-signature']) || isset($headers['webhook-signature']);
        throw new SignatureError($isSigned
            ? 'no signature is valid: the secret is another, or the body is not as it was sent'
            : 'there is neither an X-Service-Signature nor a webhook-signature header');
    }

    /** Returns true for Unix seconds of at most 15 digits. */
    private static function isTime(string $text): bool
    {
        return preg_match('/\A[0-9]{1,15}\z/', $text) === 1;
    }

    /**
     * Returns true if a text is in both lists. Compares all pairs, each in constant time.
     *
     * @param list<string> $wanted
     * @param list<string> $given
     */
    private static function hasCommon(array $wanted, array $given): bool
    {
        $found = false;
        foreach ($wanted as $one) {
            foreach ($given as $other) {
                $found = hash_equals($one, $other) || $found;
            }
        }
        return $found;
    }

    /** Returns the key of Standard Webhooks: what `whsec_` is followed by, base64-decoded, else the text itself. */
    private static function standardKey(#[\SensitiveParameter] string $secret): string
    {
        if (str_starts_with($secret, self::PREFIX)) {
            $encoded = substr($secret, strlen(self::PREFIX));
            $key = base64_decode($encoded, true);
            // PHP accepts more forms than Coffer, which in that case signs with the text.
            if ($key !== false && base64_encode($key) === $encoded) {
                return $key;
            }
        }
        return $secret;
    }

    /**
     * Returns headers by lower-case names. `HTTP_WEBHOOK_ID` of `$_SERVER` and `webhook_id` are `webhook-id`.
     *
     * @param array<array-key, mixed> $headers
     * @return array<string, string>
     */
    private static function normalized(array $headers): array
    {
        $found = [];
        foreach ($headers as $name => $value) {
            $name = preg_replace('/\Ahttp-/', '', strtr(strtolower((string) $name), '_', '-'));
            $texts = array_filter((array) $value, 'is_string');
            if ($texts !== []) {
                $found[$name] = implode(',', $texts);
            }
        }
        return $found;
    }
}
