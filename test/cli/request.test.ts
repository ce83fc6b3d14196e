import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { plainJson } from '../../src/text/json.ts';
import type { EngineRoom } from '../support/engine.ts';
import { stateOf } from '../support/state.ts';
import { commandRoom, roomForTest } from './room.ts';
import { ALL } from '../support/lane.ts';

/** As a planner's run and a sprint would. */
function write(room: EngineRoom, records: readonly (readonly [kind: string, id: string, value: object])[]): void {
  const ledger = openLedger(stateOf(room.repository), { clock: createSystemClock() });
  for (const [kind, id, value] of records) ledger.writeRecord({ kind, id, value: plainJson(value) });
  ledger.close();
}

const item = (request: string, priority: number) => ({
  ...{ title: `work ${priority}`, kind: 'feature', acceptance: ['it is there'], priority },
  ...{ source: `request:${request}`, version: 1, createdAt: 1, updatedAt: 1 },
});

async function ask(room: EngineRoom, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, lines, stdout, stderr } = await room.run(['request', ...args, '--json']);
  expect([code, lines.length], stdout + stderr).toEqual([0, 1]);
  return lines[0] ?? {};
}

describe('squad request', () => {
  it('names the id and the next owner at once, also where nothing ever ran', async () => {
    const room = commandRoom();
    const { code, stdout } = await room.run(['request', 'Add a login form']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^r-[0-9a-f]{8} is received\. The planner has it next\.\nNo service works here: `squad serve` /,
    );
    const [id = ''] = stdout.split(' ');
    expect((await room.run(['request', 'add a login form!'])).stdout).toContain(
      `${id} asks for the same, and is received`,
    );
    expect((await room.run(['request', 'list'])).stdout).toContain(id);
    expect(await ask(room, 'something else', '--key', 'k')).toMatchObject({
      how: 'new',
      next: 'planner',
      service: false,
    });
    expect(await ask(room, 'whatever', '--key', 'k')).toMatchObject({ how: 'known' });
  });

  it('shows items with state, sprint and commit, and the answer', async () => {
    const room = commandRoom();
    const id = String((await ask(room, 'Deploy it'))['id']);
    write(room, [
      [KINDS.requestPlan, id, { outcome: 'planned', items: ['b-app', 'b-port'], answer: 'Two items.\u001b[2J', at: 2 }],
      [KINDS.item, 'b-app', item(id, 40)],
      [KINDS.item, 'b-port', item(id, 90)],
      [KINDS.itemState, 'b-app', { state: 'done', completed_in_sprint_id: 'S-1', commit: 'c'.repeat(40), at: 3 }],
      [
        KINDS.itemState,
        'b-port',
        { state: 'blocked', blocked_reason: 'no port', required_inputs: ['the port of the server'], at: 3 },
      ],
    ]);
    const shown = (await room.run(['request', 'show', id])).stdout;
    expect(shown).toContain(`${id} blocked, from `);
    expect(shown).toContain('You have it next.');
    expect(shown).toContain('  Two items.\n');
    expect(shown).toContain('  b-app done in S-1, commit cccccccccccc  work 40\n');
    expect(shown).toContain('  b-port blocked: no port; it needs the port of the server  work 90\n');
    const [json] = (await room.run(['request', 'show', id, '--json'])).lines;
    expect(json).toMatchObject({ id, state: 'blocked', next: 'you', items: [{ id: 'b-app', sprint: 'S-1' }, {}] });
    expect((await room.run(['backlog'])).stdout).toMatch(
      /^item .*\nb-port .*no port; it needs the port.*\nBesides: 1 done\.\nBring what .*: squad request 'b-port: …'\n$/,
    );

    const { stdout } = await room.run(['request', 'The port of the server is 8443']);
    expect(stdout).toMatch(
      new RegExp(`^${id} gets this: b-port can be worked on again\\. The next sprint has it next\\.`),
    );
    expect((await room.run(['backlog', '--json'])).lines).toMatchObject([
      { type: 'backlog-item', id: 'b-port', state: 'pending', inputs: ['The port of the server is 8443'] },
      { id: 'b-app' },
    ]);
  });

  it('keeps its files, and refuses a hostile one before anything is on record', async () => {
    const room = commandRoom();
    const { repository } = room;
    mkdirSync(join(repository, 'docs'));
    writeFileSync(join(repository, 'docs/spec.md'), 'spec');
    symlinkSync('/etc/passwd', join(repository, 'link'));
    const refused = await room.run(['request', 'see there', '--attach', 'docs/spec.md', '--attach', 'link']);
    expect([refused.code, refused.stderr]).toEqual([
      65,
      expect.stringContaining('"link" cannot be attached: it is a link'),
    ]);
    expect((await room.run(['request', 'list'])).stdout).toContain('There is no request yet');
    const id = String((await ask(room, 'see there', '--attach', 'docs/spec.md'))['id']);
    expect((await room.run(['request', 'show', id])).stdout).toContain('files: spec.md (4 B)');
    const folder = join(stateOf(repository), 'attachments');
    expect(readdirSync(folder).map((hash) => readFileSync(join(folder, hash, 'spec.md'), 'utf8'))).toEqual(['spec']);
  });

  it('is cancelled once, and names what it does not know', async () => {
    const room = commandRoom();
    const id = String((await ask(room, 'Add a login form'))['id']);
    expect((await room.run(['request', 'cancel', id])).stdout).toBe(`${id} is cancelled.\n`);
    const again = await room.run(['request', 'cancel', id]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('was cancelled before')]);
    const unknown = await room.run(['request', 'show', 'r-none']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(`there is only ${id}`)]);
  });

  it.each<[string, string[], number, string]>([
    ['an empty text', [' '], 65, 'the request has no text'],
    ['a long text', ['x'.repeat(70_000)], 65, 'larger than 64 KiB'],
    ['an unknown state', ['go', '--wait', 'later'], 2, '--wait takes planned or done, not later'],
  ])('refuses %s', async (_what, words, code, why) => {
    const room = commandRoom();
    const { code: found, stderr } = await room.run(['request', ...words]);
    expect([found, stderr]).toEqual([code, expect.stringContaining(why)]);
    expect(stderr).toMatch(/^Next: \S/m);
  });
});

it('is there for the next process, as any of many processes asks', ALL, async () => {
  const room = roomForTest();
  const said = await Promise.all(['one', 'two', 'one'].map(async (text) => room.run(['request', text, '--json'])));
  expect(said.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect((await room.run(['request', 'list', '--json'])).lines).toHaveLength(2);
});
