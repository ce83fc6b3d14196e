import { describe, expect, it } from 'vitest';
import { NETWORK_VARIABLES, unpassedEndpoints } from '../../../src/model/network-variables.ts';
import { redactorOf } from '../../../src/model/redaction/redactor.ts';
import { profileOf } from '../../../src/runtimes/acp/profiles.ts';
import { createAcpAdapter } from '../../../src/runtimes/acp/index.ts';
import { createAntigravityAdapter } from '../../../src/runtimes/antigravity/index.ts';
import { createClaudeAdapter } from '../../../src/runtimes/claude/index.ts';
import { createCodexAdapter } from '../../../src/runtimes/codex/index.ts';
import { namesOfSecrets } from '../../../src/runtimes/shared/child-environment.ts';
import type { RuntimeSettings } from '../../../src/runtimes/shared/cli-adapter.ts';
import { causeOfWords } from '../../../src/runtimes/shared/failed-request.ts';
import { explainNetwork, type NetworkSettings } from '../../../src/runtimes/shared/network-failure.ts';
import type { Processes } from '../../../src/substrate/ports/processes.ts';

const SETTING = 'runtimes.acp/gemini.env';
const bare: NetworkSettings = { given: {}, unpassed: [], setting: SETTING };
const PROXY = 'If this machine needs a proxy, set HTTPS_PROXY';
const CERTIFICATE = 'If a company’s certificate is needed here, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE';

describe('what a person learns of a network that fails', () => {
  it.each<[string, string, Partial<NetworkSettings>, string, string]>([
    [
      'fetch failed: getaddrinfo ENOTFOUND api.vendor.test',
      '',
      {},
      'api.vendor.test cannot be reached (its name cannot be resolved)',
      PROXY,
    ],
    ['getaddrinfo EAI_AGAIN api.vendor.test', '', {}, 'api.vendor.test cannot be reached (its name cannot', PROXY],
    ['connect ECONNREFUSED 127.0.0.1:9', '', {}, '127.0.0.1:9 cannot be reached (nothing answers there)', PROXY],
    ['connect ECONNREFUSED ::1:9', '', {}, '::1:9 cannot be reached (nothing answers there)', PROXY],
    ['connect ETIMEDOUT 10.0.0.1:443', '', {}, '10.0.0.1:443 cannot be reached (no answer came in time)', PROXY],
    ['read ECONNRESET', '', {}, 'its model cannot be reached (the connection was cut)', PROXY],
    [
      'error sending request for url (https://api.vendor.test/v1/responses)',
      '',
      {},
      'api.vendor.test cannot be reached (the connection failed)',
      PROXY,
    ],
    [
      'fetch failed',
      'Error: getaddrinfo ENOTFOUND api.vendor.test',
      {},
      'api.vendor.test cannot be reached (its',
      PROXY,
    ],
    ['unable to verify the first certificate', '', {}, 'its model cannot be reached (its certificate', CERTIFICATE],
    ['invalid peer certificate: UnknownIssuer', '', {}, 'its model cannot be reached (its certificate', CERTIFICATE],
    [
      'self-signed certificate in certificate chain',
      '',
      { given: { SSL_CERT_FILE: '/ca.pem' } },
      '(its certificate is not trusted)',
      'Look at SSL_CERT_FILE',
    ],
    [
      'tunneling socket could not be established, statusCode=407',
      '',
      { given: { HTTPS_PROXY: 'http://p.test:1' } },
      '(the proxy refuses the connection)',
      'The agent goes through HTTPS_PROXY',
    ],
    [
      'Connection error.',
      '',
      { given: { ANTHROPIC_BASE_URL: 'http://me:secret-word@gate.test:8080/v1' } },
      'gate.test:8080 (ANTHROPIC_BASE_URL) cannot be reached (the connection failed)',
      PROXY,
    ],
    [
      'fetch failed',
      '',
      { unpassed: ['DASHSCOPE_BASE_URL'] },
      'its model cannot be reached',
      `You have set DASHSCOPE_BASE_URL, which the agent does not get: name it in ${SETTING} if the agent needs it`,
    ],
  ])('%s', (message, more, settings, says, hint) => {
    const said = explainNetwork(message, more, { ...bare, ...settings });
    expect(said).toContain(says);
    expect(said).toContain(message);
    expect(said).toContain(hint);
    expect(said).not.toContain('secret-word');
  });

  it.each<[string, number | undefined]>([
    ['getaddrinfo ENOTFOUND a.test', undefined],
    ['getaddrinfo EAI_AGAIN a.test', undefined],
    ['connect ECONNREFUSED 127.0.0.1:1', 500],
    ['connect ENETUNREACH 10.0.0.1:443', undefined],
    ['dial tcp: lookup a.test: no such host', undefined],
    ['unable to verify the first certificate', undefined],
    ['self-signed certificate in certificate chain; code: SELF_SIGNED_CERT_IN_CHAIN', 500],
    ['invalid peer certificate: UnknownIssuer', undefined],
    ['407 Proxy Authentication Required', undefined],
    ['tunneling socket could not be established, statusCode=407', undefined],
    ['status 407', undefined],
  ])('is a matter of the network: %s', (text, code) => {
    expect(causeOfWords(text, code)?.kind).toBe('network');
  });
});

const HOST: Readonly<Record<string, string>> = {
  PATH: '/bin',
  ...Object.fromEntries(NETWORK_VARIABLES.map((name) => [name, `/of/${name}`])),
  ANTHROPIC_BASE_URL: 'https://a.test',
  OPENAI_BASE_URL: 'https://o.test',
  GOOGLE_GEMINI_BASE_URL: 'https://g.test',
  COPILOT_PROVIDER_BASE_URL: 'https://c.test',
  KIMI_BASE_URL: 'https://k.test',
  ANTHROPIC_BEDROCK_BASE_URL: 'https://b.test',
  DASHSCOPE_BASE_URL: 'https://d.test',
  DASHSCOPE_API_KEY: 'key-of-dashscope',
  STRANGE_BASE_URL: 'https://s.test',
};
const settings: RuntimeSettings = {
  environment: HOST,
  allowEnvironment: [],
  stateDirectory: '/state',
  userHome: '/home/me',
  platform: 'linux',
  architecture: 'x64',
  isRoot: false,
};
const processes = {} as Processes;

describe('the variables by which a program reaches its model', () => {
  it.each<[string, () => { readonly network?: NetworkSettings }, string[], string[]]>([
    [
      'claude',
      () => createClaudeAdapter(settings, { processes }),
      ['ANTHROPIC_BASE_URL'],
      ['ANTHROPIC_BEDROCK_BASE_URL'],
    ],
    ['codex', () => createCodexAdapter(settings, { processes }), ['OPENAI_BASE_URL'], []],
    ['antigravity', () => createAntigravityAdapter(settings, { processes }), [], ['GOOGLE_GEMINI_BASE_URL']],
    ...(
      [
        ['gemini', ['GOOGLE_GEMINI_BASE_URL'], []],
        ['copilot', ['COPILOT_PROVIDER_BASE_URL'], []],
        ['opencode', [], []],
        ['qwen', ['OPENAI_BASE_URL'], ['DASHSCOPE_BASE_URL']],
        ['kimi', ['KIMI_BASE_URL'], []],
      ] as const
    ).map(
      ([agent, passed, named]) =>
        [
          `acp/${agent}`,
          () => createAcpAdapter(agent, settings, { processes, node: '/node' }),
          [...passed],
          [...named],
        ] as [string, () => { readonly network?: NetworkSettings }, string[], string[]],
    ),
  ])('%s gets them, or a person is told which it does not get', (name, adapter, passed, named) => {
    const { network } = adapter();
    expect(Object.keys(network?.given ?? {}).toSorted()).toEqual([...NETWORK_VARIABLES, ...passed].toSorted());
    expect(network?.unpassed).toEqual(named);
    expect(network?.setting).toBe(`runtimes.${name}.env`);
  });

  it('that a person sets count more than those of a profile', () => {
    const { variables = {}, passes = [] } = profileOf('gemini');
    expect(Object.keys(variables).filter((name) => /_PROXY$|_BASE_URL$/i.test(name))).toSatisfy((names: string[]) =>
      names.every((name) => NETWORK_VARIABLES.includes(name) || passes.includes(name)),
    );
  });

  it.each<[string[], string[], string[]]>([
    [['ANTHROPIC_'], [], ['ANTHROPIC_BASE_URL', 'ANTHROPIC_BEDROCK_BASE_URL']],
    [['ANTHROPIC_'], ['ANTHROPIC_BASE_URL'], ['ANTHROPIC_BEDROCK_BASE_URL']],
    [[], ['DASHSCOPE_API_KEY'], ['DASHSCOPE_BASE_URL']],
    [[], ['MOONSHOT_API_KEY'], []],
    [[], [], []],
  ])('of the vendors %j, with %j passed: %j is left', (vendors, passed, left) => {
    expect(unpassedEndpoints(HOST, vendors, passed)).toEqual(left);
  });
});

describe('a proxy’s password', () => {
  const PASSWORD = 'p%40ssword-of-me';
  const environment = { HTTPS_PROXY: `http://me:${PASSWORD}@proxy.test:3128`, NO_PROXY: 'localhost' };

  it.each([
    PASSWORD,
    'p@ssword-of-me',
    `me:${PASSWORD}`,
    Buffer.from('me:p@ssword-of-me').toString('base64'),
    environment.HTTPS_PROXY,
  ])('is a secret in any form: %s', (form) => {
    const shown = redactorOf(environment, []).text(`it says ${form} here`);
    expect(shown).not.toMatch(/ssword-of-me|bWU6/);
    expect(shown).toContain('it says');
  });

  it.each([
    ['http://proxy.test:3128', []],
    ['http://postgres:postgres@db.test', []],
    ['ssh://git@host.test/x', []],
    ['http://me:short@proxy.test', ['me:short']],
    ['http://a-token-of-its-own-0123@proxy.test', ['a-token-of-its-own-0123']],
  ] as [string, string[]][])('in %s: %j', (value, found) => {
    const redactor = redactorOf({ ALL_PROXY: value }, []);
    for (const one of found) expect(redactor.text(`x ${one} x`)).not.toContain(one);
    if (found.length === 0) expect(redactor.text('git proxy.test postgres 3128')).toBe('git proxy.test postgres 3128');
  });

  it('stays out of an agent’s shell', () => {
    expect(namesOfSecrets({ ...environment, HTTP_PROXY: 'http://proxy.test:1', MY_TOKEN: 'x' })).toEqual([
      'HTTPS_PROXY',
      'MY_TOKEN',
    ]);
  });
});
