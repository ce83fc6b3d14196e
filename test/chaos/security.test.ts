import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { confine } from '../../src/substrate/system/files/confine.ts';
import { createRandom } from '../support/random.ts';
import { openExchange, readRounds, removeRounds } from '../security/exchange.ts';
import { HOSTILE_PATHS } from '../security/paths.ts';

const READS = Number(process.env['SQUAD_SECURITY_READS'] ?? 10_000);
const REMOVALS = Number(process.env['SQUAD_SECURITY_REMOVALS'] ?? 300);
const PATHS = Number(process.env['SQUAD_SECURITY_PATHS'] ?? 1_000_000);

let room: string;
beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), 'squad-security-')));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

it(`S3: ${READS} reads while folders are exchanged for links let nothing from outside in`, async () => {
  const [root, outside] = [join(room, 'tree'), join(room, 'outside')];
  mkdirSync(join(root, 'folder'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), 'SECRET');
  writeFileSync(join(root, 'folder', 'file.md'), 'inside');
  const exchange = await openExchange(root, outside);
  try {
    const seen = await readRounds(root, READS);
    expect(seen).toMatchObject({ rounds: READS, outside: 0 });
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  } finally {
    await exchange.close();
  }
});

it(`S3: ${REMOVALS} removals while folders are exchanged for links take nothing outside with them`, async () => {
  const seen = await removeRounds(room, REMOVALS);
  expect(seen.lost).toEqual([]);
  expect(seen.exchanged).toBeGreaterThan(REMOVALS);
});

it(`S2: ${PATHS} paths made of hostile parts lead nowhere else`, () => {
  const random = createRandom(22);
  const parts = [...HOSTILE_PATHS.map(([path]) => path).filter((path) => path.length < 30), 'a', 'b.md', 'c'];
  const pick = () => parts[Math.floor(random() * parts.length)] ?? '';
  let taken = 0;
  for (let trial = 0; trial < PATHS; trial += 1) {
    const path = Array.from({ length: 1 + Math.floor(random() * 4) }, pick).join(random() < 0.8 ? '/' : '');
    try {
      const made = confine('/srv/root', path);
      taken += 1;
      if (made !== `/srv/root/${path}` || made.split('/').includes('..')) expect(path).toBe('refused');
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('the path ')) throw error;
    }
  }
  expect(taken).toBeGreaterThan(0);
});
