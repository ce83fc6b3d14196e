import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LANE } from './support/lane.ts';
import { canMount, openSmallDisk } from './support/small-disk.ts';
import { AGENT_PROGRAMS, makeStrangeMachine, STRANGE_UMASK } from './support/strange-machine.ts';
import { sweep } from './support/templates.ts';

/** Of tests, of vitest, and those that every program needs. */
const NAMED =
  /^(SQUAD_TEST_\w+|VITEST\w*|TINYPOOL\w*|NODE_ENV|TEST|MODE|DEV|PROD|SSR|BASE_URL|FORCE_TTY|PATH|HOME|TMPDIR|LANG|TZ)$/;

describe('what a test sees of the machine', () => {
  it('is no variable of the person', () => {
    const asked = /^SQUAD_(CHAOS|DAMAGE|KEEP|LONG|MUTATION|ORACLE|SECURITY|SIM|SOAK)_/;
    expect(Object.keys(process.env).filter((name) => !NAMED.test(name) && !asked.test(name))).toEqual([]);
  });

  it('is a PATH of named programs, and no agent', () => {
    const path = process.env['PATH'] ?? '';
    expect(path).toBe(process.env['SQUAD_TEST_PATH']);
    const programs = readdirSync(path);
    expect(programs).toEqual(expect.arrayContaining(['git', 'node', 'sh']));
    expect(programs.filter((name) => AGENT_PROGRAMS.some((agent) => agent === name))).toEqual([]);
    for (const name of [...AGENT_PROGRAMS, 'gh']) {
      expect(spawnSync('/bin/sh', ['-c', `command -v ${name}`]).status, name).not.toBe(0);
    }
    const version = spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout.trim();
    expect(version).toBe(process.version);
  });

  it('is a home of its own, UTC, plain text and files that others may read', () => {
    const home = homedir();
    expect(home).toBe(process.env['HOME']);
    expect(home).toMatch(/squad-test-\w+/);
    expect(readdirSync(home).filter((name) => name === '.gitconfig' || name === '.npmrc')).toEqual([]);
    expect(tmpdir()).toMatch(/squad-test-|^\//);
    expect(new Date(0).getTimezoneOffset()).toBe(0);
    expect(process.env['LANG']).toBe('C.UTF-8');
    const folder = mkdtempSync(join(tmpdir(), 'squad-umask-'));
    try {
      writeFileSync(join(folder, 'file'), '');
      expect(statSync(join(folder, 'file')).mode & 0o777).toBe(0o644);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const mountable = canMount();

describe(`memory that a killed run has left${mountable ? '' : ' (skipped: this user may not mount)'}`, () => {
  it.skipIf(!mountable)('is freed, and a disk that it left mounted keeps nobody from it', () => {
    const memory = mkdtempSync(join(tmpdir(), 'squad-memory-'));
    for (const name of ['busy', 'left']) mkdirSync(join(memory, `squad-test-4194305-${name}`));
    const disk = openSmallDisk(1, join(memory, 'squad-test-4194305-busy'));
    try {
      sweep(memory);
      expect(readdirSync(memory)).toEqual(['squad-test-4194305-busy']);
    } finally {
      disk?.close();
      rmSync(memory, { recursive: true });
    }
  });
});

describe('a strange machine', () => {
  /** Of each pool one: a pure file, this one, and a run that would start an agent if it found it. */
  const FILES = ['test/text/file-name.test.ts', 'test/machine.test.ts', 'test/runs/refusals.test.ts'];
  const TESTS = 'what a test sees of the machine|gives each its own name|no runtime at all';
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
  // It starts this file, too.
  const isInside = process.env['SQUAD_TEST_STRANGE'] === '1';

  it.skipIf(isInside)('is none for tests, and none of its programs is started', { timeout: 120_000 }, () => {
    const place = mkdtempSync(join(tmpdir(), 'squad-strange-'));
    try {
      const { environment, started } = makeStrangeMachine(place);
      const umask = process.umask(STRANGE_UMASK);
      const written = join(place, 'report.json');
      const args = [vitest, 'run', '--reporter=json', `--outputFile=${written}`, '-t', TESTS, ...FILES];
      const env = {
        ...environment,
        SQUAD_TEST_STRANGE: '1',
        SQUAD_TEST_LANE: LANE,
        SQUAD_TEST_BUILT: process.env['SQUAD_TEST_BUILT'],
      };
      const { stderr } = spawnSync(process.execPath, args, { cwd: join(vitest, '../../..'), env, encoding: 'utf8' });
      process.umask(umask);
      const report = JSON.parse(readFileSync(written, 'utf8')) as Report;
      const failed = report.testResults.flatMap(({ assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'failed')
          .map(({ fullName, failureMessages }) => [fullName, ...failureMessages]),
      );
      expect(failed, stderr).toEqual([]);
      expect(report.numPassedTests).toBeGreaterThan(4);
      expect(started()).toEqual([]);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { status: string; fullName: string; failureMessages: readonly string[] }[];
  }[];
}
