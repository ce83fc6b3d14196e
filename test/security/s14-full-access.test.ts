import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  fullAccessWarning,
  refuseFullAsRoot,
  refuseFullUnlessAllowed,
  unconfinedWarning,
} from '../../src/model/access.ts';
import { settingsSchema } from '../../src/model/settings.ts';
import { objective } from '../runs/run-script.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { ALL } from '../support/lane.ts';

const FULL = { level: 'full' } as const;
const EDIT = { level: 'edit' } as const;

let room: EngineRoom;
beforeEach(() => {
  room = openEngineRoom({ 'objective.md': objective() });
});
afterEach(() => room.close());

describe('S14: full access', () => {
  it('S14: nobody has it unless the settings say so', () => {
    const agent = { name: 'a', role: 'builder', runtime: 'claude' };
    expect(settingsSchema.parse({ agents: [agent] }).agents?.[0]?.access).toBe('edit');
    expect(settingsSchema.safeParse({ agents: [{ ...agent, access: 'bypass' }] }).success).toBe(false);
  });

  it('S14: the settings’ word alone is not enough, and as root nothing is', () => {
    expect(() => refuseFullUnlessAllowed(FULL, false, 'bob')).toThrow(
      expect.objectContaining({
        code: 'not-trusted',
        exitCode: 78,
        next: expect.stringContaining('--allow-full-access'),
      }),
    );
    expect(() => refuseFullUnlessAllowed(FULL, true, 'bob')).not.toThrow();
    expect(() => refuseFullUnlessAllowed(EDIT, false, 'bob')).not.toThrow();
    expect(() => refuseFullAsRoot(FULL, true, 'x')).toThrow(expect.objectContaining({ code: 'wrong-environment' }));
    expect(() => refuseFullAsRoot(FULL, false, 'x')).not.toThrow();
  });

  it('S14: whoever has it is named', () => {
    const agents = [
      { name: 'ann', access: FULL },
      { name: 'bob', access: EDIT },
      { name: 'cid', access: FULL },
    ];
    expect(fullAccessWarning(agents)).toMatch(/^ann, cid can read, change and reach everything/);
    expect(fullAccessWarning([{ name: 'bob', access: EDIT }])).toBeUndefined();
  });

  it('S14: whoever may work without a cage is named', () => {
    const of = (name: string, runtime: string, access: typeof EDIT | typeof FULL) => ({ name, runtime, access });
    const agents = [of('ann', 'free', FULL), of('bob', 'free', EDIT), of('cid', 'caged', EDIT)];
    const free = { config: { 'allow-unconfined': true } };
    expect(unconfinedWarning({ agents, runtimes: { free, caged: {} } })).toMatch(/does not work, bob can read, change/);
    expect(
      unconfinedWarning({ agents, runtimes: { free: { config: { 'allow-unconfined': false } } } }),
    ).toBeUndefined();
  });

  it(
    'S14: the command line refuses it without its flag, before anything is made, and outside of a repository',
    ALL,
    async () => {
      const script = room.script({ turns: [{ steps: [{ answer: 'x' }] }] });
      const agents = 'agents:\n  - { name: bob, role: builder, runtime: scripted, access: full }';
      writeFileSync(
        join(room.repository, 'squad.yaml'),
        `${agents}\nruntimes:\n  scripted: { config: { script: ${JSON.stringify(script)} } }\n`,
      );
      const asRoot = process.getuid?.() === 0;
      const without = await room.run(['run', 'objective.md', '--yes']);
      expect(without.code).toBe(78);
      expect(without.stderr).toMatch(asRoot ? /runs as root/ : /--allow-full-access/);
      const along = await room.run(['run', 'objective.md', '--yes', '--allow-full-access']);
      if (asRoot) expect(along.stderr).toMatch(/runs as root/);
      else expect(along.stdout).toContain('bob can read, change and reach everything');
    },
  );
});
