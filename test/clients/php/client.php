<?php
/**
 * Uses a server as the PHP client of the reference does: by curl and json_encode, which writes an empty map
 * as []. Argument: address of an open server. Prints `ok`, or fails.
 */
declare(strict_types=1);

$address = $argv[1];

function ask(string $path, array $fields): array
{
    global $address;
    $request = curl_init("http://$address/v1$path");
    curl_setopt_array($request, [
        CURLOPT_POST => true,
        CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
        CURLOPT_POSTFIELDS => json_encode($fields),
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $body = curl_exec($request);
    if ($body === false) {
        throw new Exception(curl_error($request));
    }
    return [curl_getinfo($request, CURLINFO_HTTP_CODE), json_decode($body)];
}

function expect(bool $holds, mixed $found): void
{
    if (!$holds) {
        throw new Exception('not expected: ' . json_encode($found));
    }
}

$id = ['collection' => 'php', 'key' => 'a/b', 'lang' => 'en_GB'];
[$status, $added] = ask('/add', $id + ['meta' => [], 'contentMd' => 'Grüße %%year%%']);
expect($status === 200 && $added->id === 'php|a/b|en_gb' && is_int($added->addedAt), $added);
[, $got] = ask('/get', $id + ['env' => []]);
expect($got->contentMd === 'Grüße %%year%%' && $got->meta == new stdClass(), $got);
[, $got] = ask('/get', $id + ['env' => ['year' => '2004']]);
expect($got->contentMd === 'Grüße 2004', $got);
ask('/add', $id + ['meta' => ['category' => ['blog']], 'contentMd' => str_repeat('ä', 1000000)]);
$page = ['sort' => 'addedAt', 'asc' => true, 'limit' => 100, 'offset' => 0];
[, $found] = ask('/search', ['collection' => 'php', 'filterMeta' => ['category' => ['blog']]] + $page);
expect(count($found) === 1 && strlen($found[0]->contentMd) === 2000000, count($found));
[$status, $refused] = ask('/get', ['key' => 'none', 'env' => []] + $id);
expect($status === 404 && $refused->error === 'not found', $refused);
echo "ok\n";
