<?php

declare(strict_types=1);

namespace Coffer;

/**
 * Parts of a request, checked before they are sent.
 *
 * @internal
 */
final class Request
{
    private const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    private const HEADER_TEXT_MAX = 200;
    private const JSON_FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE
        | JSON_PRESERVE_ZERO_FRACTION;

    private function __construct()
    {
    }

    /**
     * Returns a base URL without `/v1` and slashes at its end.
     *
     * @throws \ValueError
     */
    public static function base(string $url): string
    {
        // A host may be named v1.
        $url = (string) preg_replace('~(?<=[^/])(/v1)?/*\z~', '', $url);
        if (preg_match('~\Ahttps?://[^\x00-\x20\x7f/?#@\\\\]+(/[^\x00-\x20\x7f?#\\\\]*)?\z~i', $url) !== 1) {
            throw new \ValueError('url must be like https://pay.example.com, without a user, a query or a fragment');
        }
        return $url;
    }

    /**
     * Returns the value of a header: 1 to 200 printable ASCII characters.
     *
     * @throws \ValueError
     */
    public static function headerText(#[\SensitiveParameter] string $text, string $name): string
    {
        if (preg_match('/\A[ -~]{1,' . self::HEADER_TEXT_MAX . '}\z/', $text) !== 1 || trim($text) !== $text) {
            $max = self::HEADER_TEXT_MAX;
            throw new \ValueError("$name must be 1 to $max printable ASCII characters, without spaces around them");
        }
        return $text;
    }

    /**
     * @template Number of int|float
     * @param Number $value
     * @return Number
     * @throws \ValueError
     */
    public static function within(int|float $value, float $least, float $most, string $name): int|float
    {
        // This form of the comparison also refuses NaN.
        if (!($value >= $least && $value <= $most)) {
            throw new \ValueError("$name must be from $least to $most");
        }
        return $value;
    }

    /** @throws \ValueError */
    public static function method(string $method): string
    {
        if (!in_array($method, self::METHODS, true)) {
            throw new \ValueError('method must be one of ' . implode(', ', self::METHODS));
        }
        return $method;
    }

    /**
     * Fills an id into a path.
     *
     * @param string|array<array-key, mixed> $object the id, or an object that has it
     * @throws \TypeError if the object has no id
     * @throws \ValueError if the id is empty
     */
    public static function path(string $pattern, string|array $object): string
    {
        $id = is_array($object) ? $object['id'] ?? null : $object;
        if (!is_string($id)) {
            throw new \TypeError('an id must be a text, or an object that has one in the field id');
        }
        // A proxy would take `.` and `..` for folders.
        if (in_array($id, ['', '.', '..'], true)) {
            throw new \ValueError('an id must not be empty, "." or ".."');
        }
        return sprintf($pattern, rawurlencode($id));
    }

    /**
     * Returns a path with its query. Parameters that are null are left out.
     *
     * @param array<string, mixed> $query
     * @throws \ValueError
     */
    public static function target(string $path, array $query): string
    {
        if (preg_match('~\A/[!-\x7e]*\z~', $path) !== 1 || strpbrk($path, '?#\\') !== false) {
            throw new \ValueError('path must begin with / and have no query: give it as query');
        }
        $texts = array_map(static fn ($value) => is_bool($value) ? var_export($value, true) : $value, $query);
        $encoded = http_build_query($texts, '', '&', PHP_QUERY_RFC3986);
        return $encoded === '' ? $path : "$path?$encoded";
    }

    /**
     * Returns the JSON of a body.
     *
     * @param array<string, mixed> $body
     * @throws \TypeError if the amount is a number, which may already be rounded
     * @throws \ValueError if the body has no JSON, for example a text that is not UTF-8
     */
    public static function json(array $body): string
    {
        $amount = $body['amount'] ?? null;
        if ($amount !== null && !is_string($amount)) {
            $type = get_debug_type($amount);
            throw new \TypeError("amount must be a string like \"19.90\", not $type: money is never a number");
        }
        if (($body['metadata'] ?? null) === []) {
            $body['metadata'] = new \stdClass();
        }
        try {
            return json_encode((object) $body, self::JSON_FLAGS);
        } catch (\JsonException $error) {
            throw new \ValueError("the body cannot be sent as JSON: {$error->getMessage()}");
        }
    }
}
