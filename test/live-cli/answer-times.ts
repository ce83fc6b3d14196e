import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILE = 'answered.jsonl';

/** Stands between the host and a real agent, and notes in its home how long each request for permission waited. */
const between = (program: string): string => `#!/usr/bin/env node
const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const agent = spawn(process.execPath, [${JSON.stringify(program)}, ...process.argv.slice(2)], { stdio: ['pipe', 'pipe', 'inherit'] });
const asked = new Map();
const follow = (from, to, see) => {
  let rest = '';
  from.on('data', (chunk) => {
    const now = performance.now();
    to.write(chunk);
    const lines = (rest + chunk).split('\\n');
    rest = lines.pop();
    for (const line of lines) {
      try { see(JSON.parse(line), now); } catch {}
    }
  });
  from.on('end', () => to.end());
};
follow(agent.stdout, process.stdout, ({ id, method }, now) => {
  if (method === 'session/request_permission') asked.set(id, now);
});
follow(process.stdin, agent.stdin, ({ id, method }, now) => {
  if (method !== undefined || !asked.has(id)) return;
  appendFileSync(process.env.HOME + '/${FILE}', now - asked.get(id) + '\\n');
});
agent.on('exit', (code) => { process.exitCode = code ?? 1; });
`;

/** A program like the agent's, a script of Node.js, that notes times; and what its cage has to show of the true one. */
export function timed(folder: string, program: string): { binary: string; environment: { PATH: string } } {
  const binary = join(folder, 'between', 'agent');
  mkdirSync(dirname(binary), { recursive: true });
  writeFileSync(binary, between(program));
  chmodSync(binary, 0o755);
  return { binary, environment: { PATH: `${dirname(program)}:${process.env['PATH']}` } };
}

/** How many ms the requests of a session waited for their answers. */
export function answerTimes(home: string): number[] {
  return readFileSync(join(home, FILE), 'utf8').trim().split('\n').map(Number);
}
