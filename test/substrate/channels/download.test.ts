import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MOST_FILE_BYTES } from '../../../src/model/sprint/request.ts';
import { download, isPrivate } from '../../../src/substrate/channels/download.ts';

async function served(answer: (response: ServerResponse) => void): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('an address that squad goes to for no stranger', () => {
  const addresses = [
    ...['127.0.0.1', '127.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ...['100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '::1', '::', 'fe80::1', 'fd00::1', 'ff02::1'],
    ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '64:ff9b::a00:1', '2002:a00:1::', '::10.0.0.1'],
  ];
  it.each(addresses)('%s', (address) => expect(isPrivate(address)).toBe(true));
  it.each(['162.159.135.233', '8.8.8.8', '172.32.0.1', '2606:4700::6810:1', '::ffff:8.8.8.8'])('but %s', (address) => {
    expect(isPrivate(address)).toBe(false);
  });
});

describe('a file that is refused, in words', () => {
  const file = { name: 'a.txt', bytes: 3 };
  it.each([
    ['a private address', 'https://127.0.0.1/a', {}, 'its address is a private one'],
    ['the same as a number', 'https://2130706433/a', {}, 'its address is a private one'],
    ['one of IPv6', 'https://[::1]/a', {}, 'its address is a private one'],
    ['a name that leads to one', 'https://localhost/a', {}, 'its address is a private one'],
    ['no TLS', 'http://cdn.discordapp.com/a', {}, 'its address is not one of https'],
    ['another scheme', 'file:///etc/passwd', {}, 'its address is not one of https'],
    ['no address', 'a.txt', {}, 'its address is none'],
    [
      'another server',
      'https://files.example/a',
      { hosts: ['cdn.discordapp.com'] },
      'it is kept by another server than the channel’s',
    ],
    [
      'one that only looks like it',
      'http://127.0.0.1:5/a',
      { named: 'http://127.0.0.1:50/api' },
      'its address is not one of https',
    ],
  ])('%s', async (_, url, allowed, why) => {
    await expect(download({ ...file, url }, allowed)).rejects.toThrow(`the file "a.txt" is not taken: ${why}`);
  });

  it.each<[string, (response: ServerResponse) => void, number, string]>([
    [
      'a redirect',
      (one) => one.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
      3,
      'its address leads to another one',
    ],
    ['one that is gone', (one) => one.writeHead(404).end('no'), 3, 'its server answers with 404'],
    ['more than was said', (one) => one.end('four'), 3, 'it is larger than its sender said'],
    ['less than was said', (one) => one.end('2.'), 3, 'it is smaller than its sender said'],
    ['an end too early', (one) => one.writeHead(200, { 'content-length': 9 }).write('2', () => one.destroy()), 9, ''],
    [
      '25 MiB and one byte, as it is',
      (one) => one.end(Buffer.alloc(MOST_FILE_BYTES + 1)),
      MOST_FILE_BYTES,
      'it is larger than 2',
    ],
  ])('%s', async (_, answer, bytes, why) => {
    const { origin, asked } = await served(answer);
    const url = `${origin}/a`;
    await expect(download({ name: 'a.txt', bytes, url }, { named: origin })).rejects.toThrow(
      `the file "a.txt" is not taken: ${why}`,
    );
    expect(asked).toEqual(['/a']);
  });

  it('25 MiB and one byte, as said: nothing is asked for', async () => {
    const { origin, asked } = await served((response) => response.end('abc'));
    const large = { name: 'a.txt', bytes: MOST_FILE_BYTES + 1, url: `${origin}/a` };
    await expect(download(large, { named: origin })).rejects.toThrow('it is larger than 2');
    expect(asked).toEqual([]);
  });
});

it('a file as it was sent', async () => {
  const { origin } = await served((response) => response.end(Buffer.from([0, 255, 10])));
  const found = await download({ name: 'a', bytes: 3, url: `${origin}/a` }, { named: `${origin}/api` });
  expect([...found]).toEqual([0, 255, 10]);
});
