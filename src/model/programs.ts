/** One program that squad starts, or that such a program starts in its turn. */
interface ProgramRow {
  readonly starts: string;
  readonly when: string;
  /** Its inputs that an agent or a stranger may have written. */
  readonly reads: string;
  /** Why none of that can make it do something else. */
  readonly confinedBy: string;
  /** Nothing of squad's confines it: it can do what the person can. */
  readonly isFree?: true;
}

/**
 * Every program that squad starts: each start names its row (`ProgramKind`). The table in docs/threat-model.md and `squad doctor --trust`
 * come from these rows, and test/security/programs compares them with the system's processes.
 */
export const PROGRAMS = {
  squad: {
    starts:
      'Node with squad itself: an engine in the background, one in a pane, the window of a member, a run on a worker',
    when: '`--detach`, `squad team`, a run or answer from Studio or `squad mcp-server`, `squad worker`',
    reads: 'the repository, as every command of squad does',
    confinedBy: 'its own code only; no module, plugin or configuration of the repository is loaded',
  },
  'helper-host': {
    starts: 'Node with `helper-host.mjs`, a small process that starts the short programs of this table for the engine',
    when: 'after the sixth short program of an engine',
    reads: 'nothing: it is in `/`, with an empty environment',
    confinedBy: 'it starts only what the engine asks for',
  },
  'git-checkout': {
    starts: 'git in your checkout',
    when: 'to see where squad is, before a run, in `merge`, `diff`, `drop`, `clean` and `doctor`',
    reads: 'the configuration, refs, index and files of your repository',
    confinedBy: 'hooks, filters, drivers, monitors, pagers, helpers and lazy fetches are switched off in each call',
  },
  'git-store': {
    starts: 'git with a git directory that squad names',
    when: 'to make, compare, merge, keep and bring back the work of tasks, and to move refs',
    reads: 'files, commits and trees that agents made',
    confinedBy: 'as above; the configuration is squad’s own, and no repository of an agent is opened',
  },
  'git-caged': {
    starts: '`bwrap` around a git that fills the folder of a task, compares its files, or fetches a commit from it',
    when: 'a task begins, a turn has ended, work is kept',
    reads: 'the files and objects of an agent’s folder',
    confinedBy:
      'as above, and a cage: no network, no home, only the run’s repository and that folder writable. Without bubblewrap it runs as `git-store`',
  },
  end: {
    starts: '`sh` with `exit` and a number, in the place of squad itself',
    when: 'squad ends while a server of names does not answer, for which its own end would wait',
    reads: 'nothing: its environment is empty',
    confinedBy: 'its only words are squad’s own',
  },
  flush: {
    starts: '`sync`, which flushes the disk of the tasks’ folders',
    when: 'an engine ends, and folders of tasks are left',
    reads: 'nothing',
    confinedBy: 'it only flushes',
  },
  copy: {
    starts: '`cp`, which copies what a command of `setup` made',
    when: '`reuse` of a step of `setup`: it is kept, and other folders get copies',
    reads: 'folders that the command made and that no agent has written',
    confinedBy: 'it only copies, follows no link, and writes in a folder of squad’s own',
  },
  'git-publish': {
    starts: '`git push`, in the folder of your repository',
    when: '`publish` of the settings once a run is done, and `squad pr`',
    reads: 'commits that agents made; the remote’s address in your repository’s configuration',
    confinedBy: 'no hook and no force; only https, ssh and files',
  },
  'git-fetch': {
    starts: '`git fetch`, in the folder of your repository',
    when: '`squad run --base <ref> --fetch`, before the run exists; `publish.follow`, where a base is merged in',
    reads: 'what the remote sends: names of refs, and objects',
    confinedBy: 'no hook and no submodule; only https, ssh and files; five minutes',
  },
  'git-login': {
    starts: 'what git starts to log in: `ssh`, a credential helper, `git-remote-https`',
    when: 'a push by `publish` or `squad pr`, and `--fetch`',
    reads: 'the remote’s address',
    confinedBy: 'your configuration and the repository’s name them; `publish` is yours to set',
    isFree: true,
  },
  'git-part': {
    starts: 'git’s own programs, by its full path',
    when: 'git hands on a part of its work: `upload-pack`, `index-pack`, `pack-objects`',
    reads: 'what the git that starts it reads',
    confinedBy: 'the settings of that git, which it inherits',
  },
  'git-version': {
    starts: '`git --version`',
    when: '`squad doctor`',
    reads: 'nothing',
    confinedBy: 'it opens no repository',
  },
  ssh: {
    starts: '`ssh` of your PATH, which starts `squad receive` in a login shell of another machine',
    when: '`squad move`',
    reads: 'the machine of the address, as an argument after `--`; what that machine sends',
    confinedBy:
      'it runs in `/` and never asks; no word of a request is in its command; answers are checked, and a pack as `squad unpack` does',
    isFree: true,
  },
  gh: {
    starts: 'the GitHub CLI of your PATH',
    when: '`publish: { pr: true }`, evidence of a pull request, `squad run #issue`, `squad pr`, `squad serve`',
    reads: 'issues and pull requests of strangers, titles and bodies of agents',
    confinedBy: 'it runs in `/`, outside of every repository; texts are arguments of flags',
  },
  glab: {
    starts: 'the GitLab CLI of your PATH, `glab api`',
    when: 'as `gh`, for a repository on GitLab',
    reads: 'issues and merge requests of strangers, titles and bodies of agents',
    confinedBy: 'it runs in `/`, outside of every repository; texts are arguments of flags',
  },
  'turn-wrapper': {
    starts:
      '`/bin/sh` with `turn-wrapper.sh`, and the tools `mv`, `sleep`, `find`, `grep`, `tr`, `rm`, `date`; without /proc `env`, `ps` and `awk`',
    when: 'around each turn of an agent and each check',
    reads: 'sizes of files, and markers of processes',
    confinedBy: 'fixed texts; the tools come from the system’s folders, never from the agent’s PATH',
  },
  'process-table': {
    starts: '`ps` and `sysctl`, on a system without /proc',
    when: 'squad looks for its processes: around each turn, and for what an engine has left',
    reads: 'arguments and environments of processes',
    confinedBy: 'fixed arguments, and an empty environment; what they print is parsed',
  },
  namespace: {
    starts: '`unshare`, `setpriv`, `/bin/sh` with `turn-init.sh`',
    when: 'around each turn where the machine has PID namespaces; once as a trial',
    reads: 'nothing',
    confinedBy: 'fixed texts; programs of the system’s folders',
  },
  agent: {
    starts: 'the program of a runtime, or what `runtimes` names in its place; the player of scripts',
    when: 'a turn',
    reads: 'everything that the turn is about',
    confinedBy: 'its own sandbox or squad’s cage, as sandbox.md says for each runtime; none with `access: full`',
  },
  'agents-own': {
    starts: 'whatever an agent starts',
    when: 'a turn',
    reads: 'what the agent has written',
    confinedBy: 'the sandbox or the cage of its turn, and the PID namespace, with which it ends',
  },
  'acp-host': {
    starts: 'Node with the host of an ACP agent, which holds its pipes',
    when: 'a turn of an ACP agent',
    reads: 'the agent’s messages',
    confinedBy: 'messages are checked by schemas, and rules fixed before the turn answer them',
  },
  'acp-agent': {
    starts: 'the program of an ACP agent, or what the settings name in its place',
    when: 'a turn of it',
    reads: 'everything that the turn is about',
    confinedBy: 'a cage of bubblewrap, on macOS of `sandbox-exec` (experimental); none with `allow-unconfined: true`',
  },
  'agent-probe': {
    starts: 'the program of a runtime with `--version` or `login status`',
    when: '`squad doctor`, and before a run that uses it',
    reads: 'nothing of the repository: a program that a repository names starts only after your consent',
    confinedBy: 'fixed arguments, outside of the repository',
  },
  'cage-trial': {
    starts: '`bwrap`, `sandbox-exec` on macOS, or a runtime with its own sandbox, around `true`',
    when: '`squad doctor`, and before a run with such an agent',
    reads: 'nothing',
    confinedBy: 'fixed arguments',
  },
  'mail-server': {
    starts: 'Node with `squad mcp`',
    when: 'an agent’s program starts it in its turn',
    reads: 'what the agent calls it with',
    confinedBy: 'schemas and the permissions of its token; it runs outside of the agent’s sandbox',
  },
  apart: {
    starts: '`/bin/sh` with `start-apart.sh`, which becomes an MCP server or a hook',
    when: 'an agent’s program starts one',
    reads: 'nothing of the agent’s folder',
    confinedBy: 'a fixed text; no relative entry of PATH, and none in the agent’s folder',
  },
  'mcp-server': {
    starts: 'an MCP server that the settings give to an agent',
    when: 'a turn of that agent',
    reads: 'what the agent calls it with; with `cwd: task` the folder of the task',
    confinedBy:
      'your consent to its command; it starts in an empty folder, and with `cwd: task` in a cage like the turn’s',
    isFree: true,
  },
  hook: {
    starts: 'a hook that the settings give to an agent',
    when: 'a tool of that agent',
    reads: 'the tool’s input; with `cwd: task` the folder of the task',
    confinedBy:
      'your consent to its command; it starts in an empty folder, and with `cwd: task` in a cage like the turn’s',
    isFree: true,
  },
  check: {
    starts: '`/bin/sh -c` with a command of `setup`, `verify`, a criterion or a stage',
    when: 'a folder is made, work is verified, a run ends',
    reads: 'the folder of a task, which agents have written',
    confinedBy: 'your consent to its text, an environment without your secrets, limits of time and output',
    isFree: true,
  },
  schedule: {
    starts: '`/bin/sh -c` with the command of `from` of a schedule, or one of `sprint.discovery`',
    when: 'a slot of it is due, or a team looks for work, and `squad serve` or `squad sprint` runs',
    reads: 'your checkout',
    confinedBy: 'your consent to its text, an environment without your secrets, ten minutes',
    isFree: true,
  },
  action: {
    starts: '`/bin/sh -c` with the command of an action, and the arguments that a person gave as `$1`, `$2` and so on',
    when: '`squad action run`, or a person with the right to it asks for it',
    reads: 'your checkout',
    confinedBy: 'your consent to its text, an environment without your secrets, its own limit of time',
    isFree: true,
  },
  notify: {
    starts: '`/bin/sh -c` with the command of `notify`',
    when: 'a run ends or waits for you',
    reads: 'a line of text in a variable, cleaned',
    confinedBy: 'your consent to its text, an environment without your secrets, ten seconds',
    isFree: true,
  },
  pager: {
    starts: 'what `$PAGER` names, else `less`',
    when: 'a long text at a terminal: `diff`, `show`, `log`, `report`',
    reads: 'that text, with escape sequences shown as codes',
    confinedBy: 'your own variable; nothing of the repository names it',
  },
  editor: {
    starts: 'what `$VISUAL` or `$EDITOR` names, else `vi`',
    when: 'you choose to change a plan or an answer in your editor, or open the folder of a task there',
    reads: 'a file of squad’s with text that agents wrote, or all files of the folder',
    confinedBy:
      'your own variable; the file is in a folder of squad’s own, and an editor may ask whether you trust a folder: agents wrote it',
  },
  terminal: {
    starts: '`tmux`',
    when: '`squad team`',
    reads: 'names of agents and runs, which are slugs',
    confinedBy: 'argument lists; squad’s own server of tmux',
  },
} as const satisfies Record<string, ProgramRow>;

/** The row of what is started. */
export type ProgramKind = keyof typeof PROGRAMS;
