import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseSettings } from '../../src/squad/settings/parse-settings.ts';

const PAGE = readFileSync(new URL('../../docs/channels-discord.md', import.meta.url), 'utf8');
const MANIFEST = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  peerDependencies: Record<string, string>;
};
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(PAGE)?.[1] ?? '';

it('shows a section that can be used, with all rights and keys that there are', () => {
  const known = { runtimes: ['claude'], sections: {}, checkList: () => [] };
  const read = parseSettings(block('yaml'), 'squad.yaml', known, 'repository');
  expect(read.ok ? [] : read.problems).toEqual([]);
  const schema = JSON.parse(readFileSync(new URL('../../docs/schemas/squad.schema.json', import.meta.url), 'utf8'));
  const [discord] = schema.properties.channels.additionalProperties.oneOf as { properties: object }[];
  const keys = Object.keys(discord?.properties ?? {}).filter((key) => key !== 'type');
  expect(keys.filter((key) => !PAGE.includes(`\n| \`${key}\` |`))).toEqual([]);
  expect([...PAGE.matchAll(/^\| `(ask|request|control|answer)` \|/gm)].map(([, right]) => right)).toHaveLength(4);
});

it('installs the version that squad is tested with', () => {
  expect(PAGE).toContain(`npm install @discordjs/ws@${MANIFEST.peerDependencies['@discordjs/ws']}\n`);
});

it('invites the bot with the rights that it says, and no others', () => {
  const [view, write, history, openThreads, writeInThreads] = [10n, 11n, 16n, 35n, 38n].map((bit) => 1n << bit);
  const all = view! | write! | history! | openThreads! | writeInThreads!;
  expect(PAGE).toContain(`permissions=${all}\n`);
});
