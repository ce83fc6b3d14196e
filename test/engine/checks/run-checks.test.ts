import { NETWORK_VARIABLES } from '../../../src/model/network-variables.ts';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import { markedPids } from '../../support/marked-pids.ts';
import { openChecksBench, type ChecksBench } from './checks-bench.ts';
import { ALL } from '../../support/lane.ts';

let bench: ChecksBench;
afterEach(async () => bench.close());

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: unknown) => (isSquadError(error) ? error.code : String(error)),
  );

describe('a command', () => {
  it.each([
    ['that prints', 'echo fine', { passed: true, output: 'fine\n' }],
    ['that prints nothing', 'true', { passed: true, output: '(no output)' }],
    ['that prints JSON', `echo '{"a": 1.0}'; echo 007`, { passed: true, output: '{"a": 1.0}\n007\n' }],
    [
      'that fails, both outputs in their order',
      'echo one; echo two >&2; echo three; exit 3',
      { passed: false, why: 'exit', code: 3, output: 'one\ntwo\nthree\n' },
    ],
    ['that is none', 'no-such-program', { passed: false, why: 'exit', code: 127 }],
    ['that a signal ends', 'kill -9 $$', { passed: false, why: 'exit', code: null }],
    ['that starts with a dash', '-x', { passed: false, why: 'exit', code: 127 }],
  ])('%s', async (_, command, answer) => {
    bench = openChecksBench();
    expect(await bench.engine.checks.run(bench.order(command))).toMatchObject(answer);
  });

  it('runs as the shell line that it is, in its workspace', async () => {
    bench = openChecksBench();
    const line = `printf '%s|' "$(pwd)" 'it''s' "\\"" "$((1 + 1))" '$(touch no)' ; # echo no\nprintf '%s' "*"`;
    const answer = await bench.engine.checks.run(bench.order(line));
    expect(answer).toEqual({ passed: true, output: `${bench.workspace}|its|"|2|$(touch no)|*` });
    expect(bench.read('no')).toBe('');
  });

  it('reads an empty stdin', async () => {
    bench = openChecksBench();
    expect(await bench.engine.checks.run(bench.order('cat; read line || echo end'))).toEqual({
      passed: true,
      output: 'end\n',
    });
  });

  it('gets the base environment and the variables that are named, and no secret of the host', async () => {
    const named = { MINE: 'let-through', EMPTY: '', OWN: 'of this command' };
    const environment = { SECRET_TOKEN: 'hush', GIT_DIR: '/elsewhere', LANG: 'C.UTF-8', ...named };
    bench = openChecksBench({ environment, variables: ['MINE', 'EMPTY'] });
    const order = bench.order('env', { env: ['OWN', 'MINE', 'UNSET'] });
    const { output } = await bench.engine.checks.run(order);
    const lines = output.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['MINE=let-through', 'EMPTY=', 'OWN=of this command']));
    expect(output).not.toContain('UNSET');
    const { request = '' } = bench.engine.ledger.attempt(`${bench.run}.verify-1`) ?? {};
    expect(JSON.parse(request)).toMatchObject({ environment: ['MINE', 'EMPTY', 'OWN', 'UNSET'] });
    expect(request).not.toContain('let-through');
    expect((await bench.engine.checks.run(bench.order('env', { id: 'verify-2' }))).output).not.toContain('OWN=');
    expect(output).toContain('LANG=C.UTF-8');
    expect(output).toContain('CI=true');
    expect(output).not.toMatch(/hush|SECRET_TOKEN|GIT_DIR/);
  });

  it('gets what leads through a proxy or a company’s network, as agents do', async () => {
    const environment = Object.fromEntries(NETWORK_VARIABLES.map((name) => [name, `/set/${name}`]));
    bench = openChecksBench({ environment: { ...environment, SSL_CERT_FILE: '', FTP_PROXY: 'not one of these' } });
    const { output } = await bench.engine.checks.run(bench.order('env'));
    const given = output.split('\n').filter((line) => NETWORK_VARIABLES.includes(line.split('=')[0] ?? ''));
    const expected = Object.entries({ ...environment, SSL_CERT_FILE: '' }).map(([name, value]) => `${name}=${value}`);
    expect(given.toSorted()).toEqual(expected.toSorted());
    expect(output).not.toContain('FTP_PROXY');
  });

  it('leaves nothing running when it has passed', async () => {
    bench = openChecksBench();
    const line = 'sleep 60 & (setsid sleep 60 &) ; echo left';
    expect(await bench.engine.checks.run(bench.order(line))).toEqual({ passed: true, output: 'left\n' });
    expect(markedPids(`${bench.run}.verify-1`)).toEqual([]);
  });

  it('is ended at its wall, with all that it started', ALL, async () => {
    bench = openChecksBench();
    const line = `trap '' TERM; sleep 60 & (setsid sleep 60 &) ; echo waiting; sleep 60; sleep 60`;
    const answer = await bench.engine.checks.run(bench.order(line, { wallMs: 1000 }));
    expect(answer).toMatchObject({ passed: false, why: 'wall', code: null });
    expect(answer.output).toContain('waiting\n');
    expect(markedPids(`${bench.run}.verify-1`)).toEqual([]);
  });

  it('that exits 0 because it was ended has not passed', async () => {
    bench = openChecksBench();
    const line = `trap 'exit 0' TERM; while :; do sleep 0.1; done`;
    const answer = await bench.engine.checks.run(bench.order(line, { wallMs: 1000 }));
    expect(answer).toMatchObject({ passed: false, why: 'wall' });
  });

  it('that starts nowhere has not run', async () => {
    bench = openChecksBench();
    const answer = await bench.engine.checks.run(
      bench.order('true', { workspace: async () => ({ path: '/no/such/folder' }) }),
    );
    expect(answer).toMatchObject({ passed: false, why: 'not-run', output: expect.stringContaining('/no/such/folder') });
    expect(bench.engine.ledger.attempts({ runId: bench.run })).toHaveLength(1);
  });
});

describe('output', () => {
  it('of 100 MB costs no memory and leaves its end', async () => {
    bench = openChecksBench();
    const before = process.memoryUsage().rss;
    const line = `head -c 100000000 /dev/zero | tr '\\0' x; printf '\\377\\000end'; exit 1`;
    const answer = await bench.engine.checks.run(bench.order(line));
    expect(answer).toMatchObject({ passed: false, why: 'exit', code: 1 });
    expect(answer.output).toMatch(/^…x+\uFFFD\u0000end$/);
    expect(Buffer.byteLength(answer.output)).toBeLessThan(4200);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    expect(statSync(join(bench.turns, `${bench.run}.verify-1/stderr`)).size).toBeLessThan(70 * 1024 * 1024);
  });

  it('beyond the limit ends the command', async () => {
    bench = openChecksBench({ maxOutputBytes: 1_000_000 });
    const answer = await bench.engine.checks.run(bench.order('yes'));
    expect(answer).toMatchObject({ passed: false, why: 'flood', code: null });
    expect(answer.output).toMatch(/^…(y\n|\n)+/);
  });

  it('is cut between characters', async () => {
    bench = openChecksBench();
    const { output } = await bench.engine.checks.run(bench.order(`printf a; yes '日本' | head -n 2000 | tr -d '\\n'`));
    expect(output).toMatch(/^…[日本]+$/);
  });
});

describe('an order', () => {
  it.each([
    ['an id that is a path', { id: '../x' }],
    ['an id that ends like a try', { id: 'verify-r2' }],
    ['no time', { wallMs: 0 }],
  ])('with %s is refused before anything is claimed', async (_, changes) => {
    bench = openChecksBench();
    expect(await codeOf(bench.engine.checks.run(bench.order('true', changes)))).toBe('bad-input');
    expect(bench.engine.ledger.attempts({ runId: bench.run })).toEqual([]);
  });

  it('is an attempt of kind check that counts against nothing', async () => {
    bench = openChecksBench();
    await bench.engine.checks.run(bench.order('true'));
    expect(bench.engine.ledger.attempt(`${bench.run}.verify-1`)).toMatchObject({
      taskId: 'check:task',
      kind: 'check',
      agent: 'squad-verify',
      runtime: 'check',
      status: 'settled',
    });
    expect(bench.engine.ledger.totals(bench.run).turnsClaimed).toBe(0);
  });
});
