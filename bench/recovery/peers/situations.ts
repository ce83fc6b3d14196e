/** What goes wrong, with which tool whatever. */
export interface Situation {
  readonly name:
    | 'usage-limit'
    | 'login-expired'
    | 'silent-server'
    | 'never-agrees'
    | 'same-lines'
    | 'kill-in-merge'
    | 'did-nothing'
    | 'cost-cap';
  readonly what: string;
  /** The observation of the first command ends then. */
  readonly seconds: number;
  /** What a turn costs. */
  readonly usd: number;
}

/** A real limit lasts hours; no tool may get over it by a few quick tries. */
export const LIMIT_SECONDS = 40;

export const CAP_USD = 1.5;

const USUAL = { seconds: 150, usd: 0.1 };

export const SITUATIONS: readonly Situation[] = [
  {
    ...USUAL,
    name: 'usage-limit',
    what: `the account is out of its usage limit when the building starts, for ${LIMIT_SECONDS} s`,
  },
  {
    ...USUAL,
    name: 'login-expired',
    what: 'the login expires when the building starts; a person logs in after the command has ended',
  },
  { ...USUAL, name: 'silent-server', what: 'one builder’s server says nothing after its first line', seconds: 300 },
  {
    ...USUAL,
    name: 'never-agrees',
    what: 'the reviewer rejects one piece every time; when a person continues, it is satisfied',
  },
  { ...USUAL, name: 'same-lines', what: 'both builders change the same line' },
  {
    ...USUAL,
    name: 'kill-in-merge',
    what: 'SIGKILL of the tool and all its processes between the merged files and the moved branch; then the same command again',
  },
  {
    ...USUAL,
    name: 'did-nothing',
    what: 'one builder says that it is done and has changed nothing, every time; reviewers approve; when a person continues, it works',
  },
  {
    ...USUAL,
    name: 'cost-cap',
    what: `each turn costs 0.90 USD, and a person wants to pay ${CAP_USD.toFixed(2)} USD`,
    usd: 0.9,
  },
];
