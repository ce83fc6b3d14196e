import { describe, expect, it } from 'vitest';
import {
  answerInstead,
  KNOWN_ORIGINS,
  plainTarget,
  refusalOf,
  studioGuard,
  targetBehind,
} from '../../src/studio/guard.ts';

const STUDIO = 'https://smith.langchain.com';
const LOCAL = ['Host', '127.0.0.1:2024'];
const JSON_BODY = ['Content-Type', 'application/json', 'Content-Length', '2'];

const ask = (method: string, rawHeaders: readonly string[], target = '/threads') => ({ method, target, rawHeaders });
const refused = (method: string, rawHeaders: readonly string[], target?: string, origins = KNOWN_ORIGINS) =>
  refusalOf(ask(method, rawHeaders, target), studioGuard(origins));

describe('S12 whom the guard lets through', () => {
  it.each<[string, string, readonly string[]]>([
    ['a client of this machine', 'GET', LOCAL],
    ['one by name', 'GET', ['host', 'localhost:2024']],
    ['one by IPv6', 'GET', ['Host', '[::1]:2024']],
    ['one through a tunnel with another port', 'GET', ['Host', 'localhost:9999']],
    ['one without a port', 'GET', ['Host', 'LOCALHOST']],
    ['JSON', 'POST', [...LOCAL, ...JSON_BODY]],
    [
      'JSON with a charset',
      'POST',
      [...LOCAL, 'content-type', 'application/json; charset=utf-8', 'content-length', '2'],
    ],
    ['a POST without a body and a type, such as a cancel', 'POST', [...LOCAL, 'Content-Length', '0']],
    ['one that names no length either', 'POST', LOCAL],
    ['a DELETE without a body', 'DELETE', LOCAL],
    ['Studio', 'POST', [...LOCAL, ...JSON_BODY, 'Origin', STUDIO, 'Sec-Fetch-Site', 'cross-site']],
    ['what Studio asks before', 'OPTIONS', [...LOCAL, 'Origin', STUDIO, 'Access-Control-Request-Method', 'POST']],
    ['an address that a person typed', 'GET', [...LOCAL, 'Sec-Fetch-Site', 'none']],
    ['a form that only reads', 'GET', [...LOCAL, 'Content-Type', 'text/plain', 'Content-Length', '5']],
    ['an empty body whose length has several digits', 'POST', [...LOCAL, 'Content-Length', '00']],
    ['a value that is called like a header', 'GET', [...LOCAL, 'X-Note', 'origin', 'https://evil.example', 'x']],
  ])('%s', (_, method, headers) => {
    expect(refused(method, headers)).toBeUndefined();
  });

  it('a page that was named', () => {
    const mine = 'http://localhost:3000';
    expect(refused('GET', [...LOCAL, 'Origin', mine])).toMatch(/LangSmith Studio only/);
    expect(refused('GET', [...LOCAL, 'Origin', mine], '/', [...KNOWN_ORIGINS, mine])).toBeUndefined();
  });
});

describe('S12 whom it refuses', () => {
  it.each<[string, readonly string[]]>([
    ['a name that DNS may resolve to loopback', ['Host', 'evil.example:2024']],
    ['one that begins like loopback', ['Host', '127.0.0.1.evil.example']],
    ['one that ends like it', ['Host', 'evil-localhost:2024']],
    ['a name with a dot at its end', ['Host', 'localhost.:2024']],
    ['another address of this machine', ['Host', '192.168.0.7:2024']],
    ['another writing of loopback', ['Host', '127.1:2024']],
    ['all addresses', ['Host', '0.0.0.0:2024']],
    ['credentials before the name', ['Host', 'evil.example@127.0.0.1:2024']],
    ['no Host, as of HTTP/1.0', []],
    ['an empty one', ['Host', '']],
    ['two', ['Host', '127.0.0.1:2024', 'host', '127.0.0.1:2024']],
    ['two of which one is foreign', [...LOCAL, 'HOST', 'evil.example']],
  ])('by its Host: %s', (_, headers) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(refused(method, [...headers, ...JSON_BODY])).toMatch(/127\.0\.0\.1, localhost and \[::1\] only/);
    }
  });

  it.each<[string, readonly string[]]>([
    ['another page', ['Origin', 'https://evil.example']],
    ['a page without an origin: a file, a sandboxed frame', ['Origin', 'null']],
    ['an empty one', ['Origin', '']],
    ['Studio without TLS', ['Origin', 'http://smith.langchain.com']],
    ['a name that begins like Studio', ['Origin', 'https://smith.langchain.com.evil.example']],
    ['a name that ends like it', ['Origin', 'https://evilsmith.langchain.com']],
    ['Studio on another port', ['Origin', 'https://smith.langchain.com:444']],
    ['another page of this machine', ['Origin', 'http://localhost:5173']],
    ['an image of a foreign page', ['Sec-Fetch-Site', 'cross-site']],
    ['an image of a page on another port', ['Sec-Fetch-Site', 'same-site']],
  ])('by its page: %s', (_, headers) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(refused(method, [...LOCAL, ...headers, ...JSON_BODY])).toMatch(/page of LangSmith Studio only/);
    }
  });

  it('two Origin headers', () => {
    expect(refused('GET', [...LOCAL, 'Origin', STUDIO, 'origin', STUDIO])).toMatch(/one Origin/);
  });

  it.each<[string, readonly string[]]>([
    ['text, which a page sends without asking first', ['Content-Type', 'text/plain', 'Content-Length', '2']],
    ['text that begins like JSON', ['Content-Type', 'application/jsonp', 'Content-Length', '2']],
    ['JSON among parameters', ['Content-Type', 'text/plain; a=application/json', 'Content-Length', '2']],
    ['a form', ['Content-Type', 'application/x-www-form-urlencoded', 'Content-Length', '0']],
    ['files', ['Content-Type', 'multipart/form-data; boundary=x', 'Content-Length', '9']],
    ['two types', [...JSON_BODY, 'content-type', 'text/plain']],
    ['a body without a type', ['Content-Length', '2']],
    ['a body without a type whose length ends in 0', ['Content-Length', '10']],
    ['a body without a type whose length begins with 0', ['Content-Length', '01']],
    ['a body of unknown length without a type', ['Transfer-Encoding', 'chunked']],
  ])('by its content: %s', (_, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(refused(method, [...LOCAL, ...headers])).toMatch(/takes JSON/);
    }
  });

  it.each(['http://evil.example/threads', 'evil.example:443', '*', ''])('a target that is no path: %j', (target) => {
    expect(refused('GET', LOCAL, target)).toMatch(/no proxy/);
  });
});

describe('what squad answers itself', () => {
  const RUN = '6e0e5d0a-8f5b-8c55-8a34-3c1f6a4b9d10';
  const nameOf = (id: string) => (id === RUN ? 'fix-it' : undefined);
  const instead = (method: string, target: string) => answerInstead(ask(method, [], target), nameOf);

  it.each([
    [`/threads/${RUN}/copy`, 'squad fork fix-it --at SEQ'],
    [`/threads/${RUN.toUpperCase()}/copy?x=1`, 'squad fork fix-it --at SEQ'],
    [`/%74hreads/${RUN}/copy`, 'squad fork fix-it --at SEQ'],
    ['/threads/other/copy', 'squad fork RUN --at SEQ'],
  ])('a copy is a fork: %s', (target, said) => {
    expect(instead('POST', target)).toEqual({ status: 422, text: expect.stringContaining(said) });
  });

  it('a run stays when its thread is deleted', () => {
    expect(instead('DELETE', `/threads/${RUN}`)).toEqual({
      status: 422,
      text: expect.stringContaining('squad drop fix-it'),
    });
  });

  it.each([
    ['POST', '/runs/crons'],
    ['POST', '/runs/crons/search'],
    ['DELETE', `/runs/crons/${RUN}`],
    ['POST', `/threads/${RUN}/runs/crons`],
  ])('there are no crons: %s %s', (method, target) => {
    expect(instead(method, target)).toEqual({ status: 422, text: expect.stringContaining('squad resume --all') });
  });

  it('the list of threads cannot be emptied', () => {
    expect(instead('POST', '/internal/truncate')).toEqual({
      status: 403,
      text: 'squad studio keeps its list of threads itself.',
    });
  });

  it('a person who opens the address is told where to look', () => {
    expect(instead('GET', '/')).toEqual({ status: 200, text: expect.stringContaining('address of Studio') });
  });

  it.each([
    ['GET', `/threads/${RUN}`],
    ['DELETE', '/threads/other'],
    ['POST', `/threads/${RUN}/state`],
    ['DELETE', `/threads/${RUN}/runs/copy`],
    ['GET', '/threads/%E0%A4%A/copy'],
    ['POST', '/'],
    ['DELETE', `/threads/${RUN}/copy`],
  ])('the server answers %s %s', (method, target) => {
    expect(instead(method, target)).toBeUndefined();
  });

  it('nothing of a target that is no thread is asked for as a run', () => {
    expect(answerInstead(ask('DELETE', [], '/assistants/a'), () => 'any run')).toBeUndefined();
  });
});

describe('the one form of a target that rules and server read', () => {
  it.each([
    ['/threads/a', '/threads/a'],
    ['/', '/'],
    ['//threads///a', '/threads/a'],
    ['/./threads/./a', '/threads/a'],
    ['/x/../threads/a', '/threads/a'],
    ['/../../threads/a', '/threads/a'],
    ['/x/%2e%2E/threads/a', '/threads/a'],
    ['/x/.%2e/threads/%2e/a', '/threads/a'],
    ['/threads/a/x/..', '/threads/a/'],
    ['\\\\threads\\a', '/threads/a'],
    ['/x\\..\\threads/a', '/threads/a'],
    ['/%74hreads/a', '/threads/a'],
    ['/thr%2%65ads', '/thr%252eads'],
    ['/%252e%252e/a', '/%252e%252e/a'],
    ['/threads%2fa', '/threads%2fa'],
    ['/threads/a?x=/../y//z', '/threads/a?x=/../y//z'],
    ['/threads/a#/../b', '/threads/a'],
    ['/threads/a%', '/threads/a%25'],
    ['//evil.example/threads', '/evil.example/threads'],
    ['/@evil.example/', '/@evil.example/'],
  ])('%s is %s', (given, plain) => {
    expect(plainTarget(given)).toBe(plain);
    expect(plainTarget(plain)).toBe(plain);
  });
});

describe('the secret at the beginning of a target', () => {
  const SECRET = 'vTq0Yx3rJ1i8o5oXc7lY2h4sJ6k9mN0pQrStUvWxYzA';

  it.each([
    [`/${SECRET}/threads/a?b=c`, '/threads/a?b=c'],
    [`/${SECRET}//threads`, '//threads'],
    [`/${SECRET}/`, '/'],
    [`/${SECRET}`, '/'],
    [`/${SECRET}?a`, '/?a'],
  ])('%s goes to %s', (target, behind) => {
    expect(targetBehind(SECRET, target)).toBe(behind);
  });

  it.each([
    '/',
    '',
    '*',
    '/ok',
    `//${SECRET}/ok`,
    `/x/../${SECRET}/ok`,
    `/%76${SECRET.slice(1)}/ok`,
    `/${SECRET.slice(0, -1)}/ok`,
    `/${SECRET}A/ok`,
    `/${SECRET.toLowerCase()}/ok`,
    `/${SECRET}%2fok`,
    `/ok?${SECRET}`,
    `http://127.0.0.1/${SECRET}/ok`,
    SECRET,
    `x/${SECRET}`,
    `x/${SECRET}/ok`,
  ])('%s goes nowhere', (target) => {
    expect(targetBehind(SECRET, target)).toBeUndefined();
  });
});
