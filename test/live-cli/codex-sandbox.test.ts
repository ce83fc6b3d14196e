import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { git } from '../support/git.ts';
import { snapshot } from '../support/snapshot.ts';
import { CODEX_BINARY, commands, NO_BINARY, openCodexBench, type CodexBench } from './codex-harness.ts';

/** Two models: one with plain tools, and Codex's default one, whose tools are called from JavaScript ("code mode"). */
const MODELS = [
  { name: 'plain tools', model: 'fake-model' },
  { name: 'code mode', model: null },
] as const;

describe.skipIf(CODEX_BINARY === undefined).each(MODELS)(
  `codex's sandbox ($name${CODEX_BINARY === undefined ? `; not run: ${NO_BINARY}` : ''})`,
  ({ model }) => {
    let bench: CodexBench;
    const running: string[] = [];

    beforeAll(async () => {
      bench = await openCodexBench((request) => commands(running)(request), { model });
    });
    afterAll(() => bench.close());

    /** Runs each command as one tool call of one turn; `; true` keeps Codex from hiding the event of a denied one. */
    async function run(scripts: readonly string[], changes: Partial<TurnRequest> = {}): Promise<Ran> {
      return runAsIs(
        scripts.map((script) => `{ ${script}\n} 2>&1; true`),
        changes,
      );
    }
    async function runAsIs(scripts: readonly string[], changes: Partial<TurnRequest>): Promise<Ran> {
      running.splice(0, running.length, ...scripts);
      const events: TurnEvent[] = [];
      const directory = await bench.directory();
      const turn = bench.runtime().start(
        {
          turnId: `sandbox-${process.pid}-${Date.now()}`,
          workspace: bench.workspace,
          prompt: 'Please try.',
          instructions: 'You are a tester.',
          access: { level: 'edit' },
          mcp: [],
          limits: { ...DEFAULT_TURN_LIMITS, wallMs: 80_000 },
          ...bench.request,
          ...changes,
        },
        { directory, onSpawned: () => Promise.resolve(), onEvent: (event) => events.push(event) },
      );
      const result = await turn.result;
      const outputs = events.flatMap((event) => (event.type === 'tool-ended' ? [event.output ?? ''] : []));
      return { result, outputs, directory };
    }
    interface Ran {
      readonly result: TurnResult;
      readonly outputs: readonly string[];
      readonly directory: string;
    }

    const user = () => join(bench.parts.root, 'repository');
    const common = () => join(user(), '.git');

    it('costs a resumed turn nothing but the prompt: Codex repeats no text that the conversation has', async () => {
      const length = (): number => JSON.stringify(bench.requests.at(-1)?.body.input).length;
      const { result } = await run(['true']);
      const before = length();
      const { session } = result;
      const again = await run([], session === undefined ? {} : { session });
      expect(again.result).toMatchObject({ outcome: 'completed', session: { id: session?.id } });
      // A prompt and an answer. It was 1.7 kB while the shell's temporary folder lay in a folder of the turn.
      expect(length() - before).toBeLessThan(500);
    });

    it('lets an edit turn edit, build with temporary files, and commit in its folder', async () => {
      const { result, outputs } = await run([
        'mkdir -p src && echo "console.log(6 * 7)" > src/main.js',
        't=$(mktemp) && echo temporary > "$t" && node src/main.js > built.txt && cat "$t" built.txt',
        'git add -A && git commit -qm made && git log --oneline | head -1',
        'echo more >> built.txt && git commit -qam again && git status --short | wc -l',
      ]);
      expect(result.failure).toBeUndefined();
      expect(outputs[1]).toContain('42');
      expect(outputs[2]).toContain('made');
      expect(git(bench.workspace.path, 'log', '--format=%s')).toBe('again\nmade\nbase');
      expect(git(bench.workspace.path, 'status', '--short')).toBe('');
    });

    it('holds back everything else: the escape corpus', async () => {
      const { root, stateDirectory, home } = bench.parts;
      const other = await bench.otherWorkspace();
      const outside = join(root, 'outside');
      mkdirSync(outside);
      mkdirSync(join(stateDirectory, 'codex-home'), { recursive: true });
      writeFileSync(join(stateDirectory, 'codex-home', 'auth.json'), '{"token":"canary-login"}');
      const bystander = spawn('sleep', ['120'], { stdio: 'ignore' });
      const watched = () =>
        [user(), other.path, outside, home, join(stateDirectory, 'codex-home', 'auth.json')].map((path) =>
          snapshot(path),
        );
      const before = watched();

      const { result, outputs } = await run([
        `touch ${outside}/a; touch /tmp/squad-escape-${process.pid} /var/tmp/squad-escape-${process.pid}; touch ~/squad-escape`,
        `ln -s ${outside} way-out; echo x > way-out/b; ln ${common()}/config hard; echo x >> hard`,
        `mkdir -p ${common()}/hooks; printf '#!/bin/sh\\ntouch ${outside}/hook' > ${common()}/hooks/post-commit; chmod +x ${common()}/hooks/post-commit`,
        `git config core.fsmonitor 'touch ${outside}/fsmonitor'; git config --worktree core.fsmonitor x; echo '[core]' >> ${common()}/config`,
        `git update-ref refs/heads/main HEAD; git branch evil; git tag evil; git stash; echo x > ${common()}/refs/heads/evil; echo x >> ${common()}/packed-refs`,
        `echo 'ref: refs/heads/evil' > ${common()}/HEAD; echo x > ${common()}/index; echo '*' > ${common()}/info/exclude; touch ${common()}/x`,
        `echo x > ${other.path}/readme.md; echo x > ${other.path}/.git/HEAD; echo x > ${other.path}/.git/index; git worktree add ../evil; git worktree prune`,
        `mv .git x; rmdir .git; ln -sfn ${common()} .git; git --git-dir=${common()} update-ref refs/heads/evil HEAD; git -C ${user()} tag evil`,
        `mkdir -p ${common()}/objects/info; echo ${outside} > ${common()}/objects/info/alternates; mv ${common()}/objects ${common()}/o`,
        `touch ${common()}/objects/pack/evil.pack; rm -r ${common()}/objects/pack; mv ${common()}/objects/pack ${common()}/objects/p`,
        `cat ${stateDirectory}/codex-home/auth.json; cp ${stateDirectory}/codex-home/auth.json stolen.json`,
        `kill -9 ${bystander.pid}; ls /proc/${bystander.pid}/root; cat /proc/${bystander.pid}/environ | tr '\\0' '\\n'`,
        `curl -s -m 3 ${bench.requests[0] === undefined ? '' : `http://${String(bench.requests[0].headers['host'])}/v1`} && echo REACHED`,
        `mount -o remount,rw / && echo REMOUNTED; unshare -r true && umount .git && echo UNMOUNTED`,
        `mkdir -p .codex .agents; echo x > .codex/config.toml; true`,
      ]);

      expect(result.failure).toBeUndefined();
      expect(watched()).toEqual(before);
      for (const folder of ['/tmp', '/var/tmp'])
        expect(existsSync(`${folder}/squad-escape-${process.pid}`)).toBe(false);
      expect(existsSync(join(homedir(), 'squad-escape'))).toBe(false);
      expect(outputs.join('\n')).not.toMatch(/canary|REACHED|REMOUNTED|UNMOUNTED/);
      expect(readFileSync(join(bench.workspace.path, '.codex', 'config.toml'), 'utf8')).not.toBe('x\n');
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
      bystander.kill('SIGKILL');
    });

    it('lets a read-only turn read and write nothing', async () => {
      const { result, outputs } = await run(
        ['cat readme.md', 'touch written.txt', 'echo x > "$TMPDIR/x"', 'echo x > .git/HEAD'],
        { access: { level: 'read-only' } },
      );
      expect(result.failure).toBeUndefined();
      expect(outputs[0]).toContain('# fixture');
      expect(
        outputs
          .slice(1)
          .join('\n')
          .match(/Read-only file system/g),
      ).toHaveLength(3);
      expect(existsSync(join(bench.workspace.path, 'written.txt'))).toBe(false);
    });

    it('breaks what captures the output of a program, and says so to the agent: a limit of codex 0.169', async () => {
      const script =
        "const { error } = require('node:child_process').spawnSync('true'); console.log(error?.code ?? 'fine')";
      const { outputs } = await run([`node -e "${script}"`]);
      expect(outputs[0]).toContain('EPERM');
      expect(bench.requests.at(-1)?.said('developer')).toContain('can fail with EPERM');
      const open = await run([`node -e "${script}"`], { access: { level: 'edit', network: true } });
      expect(open.outputs[0]).toContain('fine');
    });

    it('says nothing of a call that codex itself takes for a denial: a limit of codex exec 0.169', async () => {
      const { result, outputs } = await runAsIs(['touch hidden.txt'], { access: { level: 'read-only' } });
      expect({ outcome: result.outcome, denials: result.denials }).toEqual({ outcome: 'completed', denials: [] });
      // On a busy machine codex prints after all what the program said.
      expect(outputs.filter((text) => !text.includes('Read-only file system'))).toEqual([]);
      expect(existsSync(join(bench.workspace.path, 'hidden.txt'))).toBe(false);
    });
  },
);
