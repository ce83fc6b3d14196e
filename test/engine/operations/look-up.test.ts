import { describe, expect, it } from 'vitest';
import { lookUp } from '../../../src/engine/operations/cite-files.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { evidenceKey, type JudgeEvidence, type LookedUp } from '../../../src/model/plan/judge-evidence.ts';
import { quoting } from '../../support/findings.ts';
import { openInMemory, withGit } from './in-memory.ts';

type Turn = { agent?: string; kind?: string; commands?: string[] };

async function found(ports: OperationPorts, commit: string, evidence: JudgeEvidence): Promise<LookedUp | undefined> {
  const all = await lookUp(ports, { task: 'judge', by: 'rex', commit, evidence: [evidence] });
  return all[evidenceKey('rex', evidence)];
}

describe('a quote', () => {
  const TEXT = 'export function save() {\r\n\treturn "kept";\r\n}\r\n\r\n// the end\r\nreturn "kept";\r\n';

  it.each<[string, JudgeEvidence, LookedUp]>([
    ['in its line', quoting('a.ts', 'export function save() {', 1), { as: 'quoted', line: 1 }],
    ['in another line than its judge says', quoting('a.ts', '// the end', 900), { as: 'quoted', line: 5 }],
    ['in the nearest of several', quoting('a.ts', 'return "kept";', 5), { as: 'quoted', line: 6 }],
    [
      'over lines, with other ends and indents',
      quoting('a.ts', 'save() {\n  return "kept";\n}', 1),
      { as: 'quoted', line: 1 },
    ],
    ['over an empty line', quoting('a.ts', '}\n// the end', 3), { as: 'quoted', line: 3 }],
    ['of a part of a line', quoting('a.ts', 'kept', -1), { as: 'quoted', line: 2 }],
    ['with other letters', quoting('a.ts', 'return "Kept"'), { as: 'no-quote' }],
    ['that is longer than the file', quoting('a.ts', 'x'.repeat(1_000_000)), { as: 'no-quote' }],
    ['of a file that is not there', quoting('b.ts'), { as: 'no-file' }],
    ['of a path outside', quoting('../../etc/passwd', 'root'), { as: 'no-file' }],
    ['of an absolute path', quoting('/etc/passwd', 'root'), { as: 'no-file' }],
    ['of a huge path', quoting('x'.repeat(200_000)), { as: 'no-file' }],
    ['of an empty file', quoting('empty'), { as: 'no-quote' }],
    [
      'of a file that the work wrote for its judge',
      quoting('DONE.md', 'all criteria are met'),
      { as: 'quoted', line: 1 },
    ],
  ])('%s', async (_, evidence, as) => {
    const { ports, head } = openInMemory({
      work: { 'a.ts': TEXT, empty: '', 'DONE.md': 'All: all criteria are met\n' },
    });
    expect(await found(ports, head, evidence)).toEqual(as);
  });

  it('of a file that is too large, or cannot be read, is left open', async () => {
    const { ports, head } = openInMemory();
    expect(await found(withGit(ports, { readFileAt: async () => 'too-large' }), head, quoting('a'))).toEqual({
      as: 'too-large',
    });
    const broken = withGit(ports, { readFileAt: () => Promise.reject(new Error('boom')) });
    await expect(found(broken, head, quoting('a'))).rejects.toThrow('boom');
    expect(await found({ ...broken, fault: async () => 'boom' }, head, quoting('a'))).toBeUndefined();
  });

  it('costs one call of git for each file', async () => {
    const { ports, head } = openInMemory();
    let calls = 0;
    const counted = withGit(ports, {
      readFileAt: async () => {
        calls += 1;
        return new TextEncoder().encode('one\n'.repeat(100_000));
      },
    });
    const evidence = Array.from({ length: 50 }, (_, index) => quoting('a', index % 2 === 0 ? 'one' : `two ${index}`));
    await lookUp(counted, { task: 'judge', by: 'rex', commit: head, evidence });
    expect(calls).toBe(1);
  });
});

describe('a command', () => {
  const inLedger = (turns: readonly Turn[]): OperationPorts => {
    const { ports } = openInMemory();
    const attempts = turns.map(({ agent = 'rex', kind = 'turn' }, index) => ({ id: String(index), agent, kind }));
    const ledger = {
      attempts: () => attempts,
      settlement: (id: string) => ({ result: { commands: turns[Number(id)]?.commands } }),
    };
    return { ...ports, ledger, lease: { runId: 'r' } } as unknown as OperationPorts;
  };
  const test = (command: string): JudgeEvidence => ({ command, output: 'ok' });

  it.each<[string, readonly Turn[], string, LookedUp['as']]>([
    ['as it ran', [{ commands: ['npm test'] }], 'npm test', 'ran'],
    ['in an earlier turn', [{ commands: ['npm test'] }, { commands: [] }], 'npm test', 'ran'],
    ['within a longer one', [{ commands: ['cd x && npm  test 2>&1 | tail'] }], 'npm test', 'ran'],
    [
      'in a shell of its runtime',
      [{ commands: [String.raw`/bin/bash -lc "grep \"a b\" 'x'"`] }],
      `grep "a b" 'x'`,
      'ran',
    ],
    ['longer than squad keeps', [{ commands: [`echo ${'x'.repeat(295)}`] }], `echo ${'x'.repeat(900)}`, 'ran'],
    ['of another agent', [{ commands: [] }, { agent: 'bob', commands: ['npm test'] }], 'npm test', 'not-run'],
    ['of a check', [{ commands: [] }, { kind: 'check', commands: ['npm test'] }], 'npm test', 'not-run'],
    ['that is another one', [{ commands: ['npm run lint'] }], 'npm test', 'not-run'],
    ['of turns that do not tell', [{}], 'npm test', 'not-told'],
    ['of turns of which one does not tell', [{}, { commands: ['ls'] }], 'npm test', 'not-told'],
    ['without a turn', [], 'npm test', 'not-told'],
  ])('%s', async (_, turns, command, as) => {
    expect(await found(inLedger(turns), 'c1', test(command))).toEqual({ as });
  });
});
