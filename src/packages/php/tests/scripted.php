<?php

declare(strict_types=1);

/** An HTTP server, `php -S` with this file, that gives the n-th request the n-th answer, and the last one for ever. */
final class Scripted
{
    public readonly string $url;
    private readonly string $folder;
    /** @var resource */
    private $process;

    /** @param list<array{status: int, headers: array<string, string>, body: string}> $answers */
    public function __construct(array $answers)
    {
        $this->folder = sys_get_temp_dir() . '/scripted-' . bin2hex(random_bytes(8));
        mkdir($this->folder);
        file_put_contents("$this->folder/answers", json_encode($answers, JSON_THROW_ON_ERROR));
        $pipes = [];
        $command = [PHP_BINARY, '-S', '127.0.0.1:0', __FILE__];
        $this->process = proc_open($command, [2 => ['pipe', 'w']], $pipes, $this->folder);
        preg_match('~\((http://127\.0\.0\.1:[0-9]+)\) started~', (string) fgets($pipes[2]), $found);
        $this->url = $found[1];
    }

    public function __destruct()
    {
        proc_terminate($this->process);
        proc_close($this->process);
        array_map(unlink(...), glob("$this->folder/*"));
        rmdir($this->folder);
    }

    /** Returns the number of requests. */
    public function requested(): int
    {
        return is_file("$this->folder/requests") ? (int) filesize("$this->folder/requests") : 0;
    }
}

if (PHP_SAPI === 'cli-server') {
    file_put_contents('requests', '.', FILE_APPEND);
    $answers = json_decode((string) file_get_contents('answers'), true);
    $answer = $answers[min(filesize('requests'), count($answers)) - 1];
    http_response_code($answer['status']);
    header_remove();
    foreach ($answer['headers'] as $name => $value) {
        header("$name: $value");
    }
    // A Location changes the status.
    http_response_code($answer['status']);
    echo $answer['body'];
}
