import { describe, expect, it } from 'vitest';
import { isSquadError } from '../../src/model/errors.ts';
import { parseSshAddress } from '../../src/model/ssh-address.ts';

describe('an address of a repository on another machine', () => {
  it.each([
    ['ssh://server/home/me/p', { host: 'server', path: '/home/me/p' }],
    ['ssh://me@server:2222/~/p', { user: 'me', host: 'server', port: 2222, path: '/~/p' }],
    ['ssh://[::1]:22/p%20q', { host: '::1', port: 22, path: '/p q' }],
    ["ssh://my_alias/a'b;$(x)`y`/é", { host: 'my_alias', path: "/a'b;$(x)`y`/é" }],
  ])('%s', (text, parts) => {
    expect(parseSshAddress(text)).toMatchObject({ ...parts, url: text });
  });

  it.each([
    ['http://server/p', 'no machine'],
    ['ssh:///p', 'no machine'],
    ['ssh://server', 'no path'],
    ['ssh://server/', 'no path'],
    ['ssh://-oProxyCommand=x/p', 'no name or address'],
    ['ssh://-l@server/p', 'user is no name'],
    ['ssh://a b/p', 'no name or address'],
    ['ssh://$(x)/p', 'no name or address'],
    ['ssh://me:secret@server/p', 'password'],
    ['ssh://server:0/p', 'port'],
    ['ssh://server:99999/p', 'port'],
    ['ssh://server:22x/p', 'port'],
    ['ssh://server/%zz', '%'],
    ['ssh://server/a%00b', 'path'],
    ['ssh://[;]/p', 'no name or address'],
  ])('refuses %s', (text, why) => {
    let error: unknown;
    try {
      parseSshAddress(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(isSquadError(error) && [error.code, error.message.includes('secret')]).toEqual(['usage', false]);
    expect(String(error)).toContain(why);
  });
});
