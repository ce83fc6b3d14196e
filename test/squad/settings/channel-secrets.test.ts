import { expect, it } from 'vitest';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';

const known = { runtimes: ['claude'], sections: {}, checkList: () => [] };
const CHANNELS =
  'channels: { team: { type: discord, token: BOT }, hook: { type: webhook, url: "https://a.example", secret: KEY } }';
const agent = (more: string) => `agents: [{ name: b, role: builder, runtime: claude, ${more} }]`;

it.each([
  ['of an agent', agent('env: [PLAIN, BOT]'), 'agents[0].env[1]: BOT is what channels.team proves itself with'],
  ['of a runtime', 'runtimes: { claude: { env: [KEY] } }', 'runtimes.claude.env[0]: KEY is what channels.hook'],
  ['of all commands', 'env: [BOT]', 'env[0]: BOT is'],
  ['of one command', 'setup: [{ run: "npm ci", env: [BOT] }]', 'setup[0].env[0]: BOT is'],
  ['of an agent’s server', agent('mcp: [{ name: x, command: y, env: [BOT] }]'), 'agents[0].mcp[0].env[0]: BOT is'],
  [
    'of a header',
    agent('mcp: [{ name: x, url: "https://x.example", headers: { X-Key: KEY } }]'),
    'agents[0].mcp[0].headers.X-Key: KEY is',
  ],
])('the secret of a channel is none %s', (_, line, text) => {
  const read = parseSettings(`${line}\n${CHANNELS}\n`, 'squad.yaml', known, 'repository');
  expect(read.ok ? [] : read.problems.map(({ line: at, message }) => `${at}: ${message}`)).toEqual([
    expect.stringContaining(`1: ${text}`),
  ]);
});

it('other variables are let through as ever, and that of a channel where it only looks like one', () => {
  const text = `${agent('env: [OTHER]')}\nverify: [{ name: BOT, run: "echo BOT" }]\n${CHANNELS}\n`;
  const read = parseSettings(text, 'squad.yaml', known, 'repository');
  expect(read.ok ? [] : read.problems.map(({ message }) => message).filter((one) => one.includes('proves'))).toEqual(
    [],
  );
});
