import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allCommands } from '../../scripts/commands-docs.ts';
import { candidatesFor, matching, type KnownNames } from '../../src/cli/completion/candidates.ts';
import { SCRIPTS } from '../../src/cli/completion/scripts.ts';
import { definition, RecordedRun } from '../view/report/support.ts';
import type { EngineRoom } from '../support/engine.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { roomForTest } from './room.ts';
import { newStateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';

const program = await allCommands();
const KNOWN: KnownNames = {
  ...{ runs: ['tidy', 'tide'], tasks: ['greet', 'docs'], agents: ['bob', 'builder-1'], requests: ['r-1a2b3c4d'] },
  ...{ roles: ['builder', 'judge'], occasions: ['role', 'first'] },
};

const complete = (...words: string[]): readonly string[] =>
  matching(candidatesFor(program, words), KNOWN, words.at(-1) ?? '');

describe('what completes a word', () => {
  it.each([
    ['a command', ['sto'], ['stop']],
    ['a command of a command', ['db', ''], ['check', 'backup', 'export', 'help']],
    ['a run', ['show', 'ti'], ['tidy', 'tide']],
    ['a task or a run', ['show', ''], ['tidy', 'tide', 'greet', 'docs']],
    ['a task', ['retry', 'g'], ['greet']],
    ['a task of a run', ['diff', 'tidy', 'd'], ['docs']],
    ['a task, after an option with its value', ['retry', '--run', 'tidy', ''], ['greet', 'docs']],
    ['a request', ['request', 'show', ''], ['r-1a2b3c4d']],
    ['the value of --run', ['retry', '--run', ''], ['tidy', 'tide']],
    ['the value of --agent', ['pause', '--agent', 'b'], ['bob', 'builder-1']],
    ['a choice', ['override', 'greet', ''], ['done', 'failed']],
    ['a choice of an option', ['--log-level', 'd'], ['debug']],
    ['a runtime', ['switch', 'cl'], ['claude']],
    ['a runtime of an option', ['run', 'objective.md', '--runtime', 's'], ['scripted']],
    ['an option', ['runs', '--j'], ['--json']],
    ['the role of a prompt', ['prompts', 'show', 'b'], ['builder']],
    ['the occasion of a prompt', ['prompts', 'eject', 'builder', ''], ['role', 'first']],
    ['a prompt whose changes are asked for', ['prompts', 'diff', ''], ['builder', 'judge']],
    ['nothing, for a file', ['run', 'obj'], []],
    ['nothing, for an unknown option', ['run', '--x'], []],
    ['no hidden command', ['de'], ['demo']],
  ])('%s', (_title, words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });

  it('leaves out names that a shell could read as more than a name', () => {
    const hostile = ['$(touch made)', '`touch made`', 'a b', 'a;b', '-rf', 'a\nb', '\u001b[2J', '*', "it's", 'ok-1'];
    const found = matching({ words: [], names: ['runs'] }, { ...KNOWN, runs: hostile }, '');
    expect(found).toEqual(['ok-1']);
  });
});

/** A room in which `squad` is on PATH, with a run called tidy. */
function shellRoom(): { room: EngineRoom; environment: NodeJS.ProcessEnv } {
  const room = roomForTest();
  const run = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
  run.publish();
  run.close();
  const bin = join(room.root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'squad'), `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`, { mode: 0o755 });
  const environment = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: room.root,
    XDG_STATE_HOME: join(room.root, 'state'),
    TERM: 'dumb',
  };
  return { room, environment };
}

const noShell = (name: string): string | undefined =>
  spawnSync(name, ['-c', 'true']).status === 0 ? undefined : `${name} is not installed`;
const [NO_ZSH, NO_FISH] = [noShell('zsh'), noShell('fish')];

describe('in a real shell', { timeout: 120_000 }, () => {
  it('bash completes what squad prints, and expands nothing', ALL, () => {
    const { room, environment } = shellRoom();
    const lines = [
      'eval "$(squad completion bash)"',
      'ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _squad; printf "%s," "${COMPREPLY[@]}"; echo; }',
      'ask squad sto',
      'ask squad watch ti',
      'ask squad pause --agent b',
      'ask squad prompts show fix',
      'ask squad prompts eject council im',
      'ask squad prompts diff reviewer/me',
      'complete -p squad',
      // Names as they could come from a program that is not squad.
      'squad() { printf "%s\\n" \'$(touch made)\' "a b"; }',
      'ask squad x',
      'ls',
    ];
    const options = { cwd: room.repository, env: environment, encoding: 'utf8' } as const;
    const out = execFileSync('bash', ['--norc', '-c', lines.join('\n')], options);
    expect(out.split('\n').slice(0, 8)).toEqual([
      'stop,',
      'tidy,',
      'bob,',
      'fixer,',
      'improve,',
      'reviewer/merged,',
      'complete -o bashdefault -o default -F _squad squad',
      '$(touch made),a b,',
    ]);
    expect(out).not.toMatch(/^made$/m);
  });

  it.skipIf(NO_ZSH !== undefined)(`zsh completes at a prompt${NO_ZSH === undefined ? '' : `: ${NO_ZSH}`}`, () => {
    const { room, environment } = shellRoom();
    const lines = [
      'zmodload zsh/zpty',
      'zpty z zsh -f -i',
      `zpty -w z 'PS1= ; autoload -Uz compinit && compinit -u; eval "$(squad completion zsh)"; bindkey "^I" complete-word; echo REA''DY'`,
      'zpty -r -m z all "*READY*"',
      `zpty -w -n z $'squad watch ti\\t'`,
      'zpty -r -m z seen "*dy*"',
      `zpty -w -n z $'\\C-a: \\C-e; echo EN''D\\n'`,
      'zpty -r -m z seen "*END*"',
      'print -r -- $seen',
    ];
    const options = { cwd: room.repository, env: environment, encoding: 'utf8', timeout: 60_000 } as const;
    expect(execFileSync('zsh', ['-f', '-c', lines.join('\n')], options)).toContain('watch tidy');
  });

  it.skipIf(NO_FISH !== undefined)(`fish completes${NO_FISH === undefined ? '' : `: ${NO_FISH}`}`, () => {
    const { room, environment } = shellRoom();
    const lines = ['squad completion fish | source', "complete -C 'squad watch ti'"];
    const options = { cwd: room.repository, env: environment, encoding: 'utf8' } as const;
    expect(execFileSync('fish', ['--no-config', '-c', lines.join('\n')], options)).toMatch(/^tidy/);
  });

  it('each script is what `squad completion` prints', ALL, async () => {
    const room = roomForTest();
    for (const [shell, script] of Object.entries(SCRIPTS)) {
      expect((await room.run(['completion', shell])).stdout).toBe(`${script}\n`);
    }
    expect(await room.run(['completion', 'csh'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints nothing where nothing ran, and in no repository', async () => {
    const room = roomForTest();
    expect(await room.run(['complete', '--', 'watch', ''])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });
});
