import type { Processes } from '../../substrate/ports/processes.ts';
import { defined } from '../../text/defined.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { isOlder } from './find-program.ts';

type Problem = Probe['problems'][number];

/** The parts of a probe that differ from program to program. */
export interface CliProbe {
  readonly name: string;
  /** npm package that installs it. */
  readonly package: string;
  readonly floor: string;
  readonly binary: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly login: (binary: string) => Promise<Probe['login']>;
  /** Shown if the login is missing. */
  readonly loginProblem: Problem;
  /** A problem makes the probe fail only if the sandbox is `none`. */
  readonly sandbox: (binary: string) => Promise<{ readonly level: Probe['sandbox']; readonly problem?: Problem }>;
}

/** Probes a program that npm installs: version, login and sandbox. Never rejects and makes no model call. */
export async function probeCli(cli: CliProbe, processes: Processes): Promise<Probe> {
  const { name, floor, binary } = cli;
  const install = `npm install -g ${cli.package}`;
  if (binary === undefined) {
    const problem = { text: `${name} was not found`, next: `install it with \`${install}\`, or put it on PATH` };
    return { ok: false, floor, login: 'unknown', sandbox: 'none', problems: [problem] };
  }
  const problems: Problem[] = [];
  const said = await processes.run(binary, ['--version'], { env: cli.environment, timeoutMs: 15_000 });
  const version = /\b\d+\.\d+\.\d+\b/.exec(said.stdout)?.[0];
  const works = said.code === 0 && version !== undefined;
  if (!works) {
    const why = said.problem ?? (said.stderr.trim().slice(0, 200) || `exit ${said.code}`);
    problems.push({ text: `${name} --version failed: ${why}`, next: `reinstall it with \`${install}\`` });
  }
  const isCurrent = version !== undefined && !isOlder(version, floor);
  if (version !== undefined && !isCurrent) {
    problems.push({ text: `${name} ${version} is older than ${floor}`, next: `update it with \`${install}@latest\`` });
  }
  const login = await cli.login(binary);
  if (login === 'missing') problems.push(cli.loginProblem);
  const { level: sandbox, problem } = await cli.sandbox(binary);
  if (problem !== undefined) problems.push(problem);
  const ok = works && isCurrent && login !== 'missing' && sandbox !== 'none';
  return defined({ ok, version, binary, floor, login, sandbox, problems });
}
