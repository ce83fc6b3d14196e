import { isCancel, multiselect, text } from '@clack/prompts';
import { commandRefusal } from '../../model/settings-text.ts';
import { behindBar } from './prompts.ts';

/** `squad init` writes these into `squad.yaml` besides the defaults. */
export interface Setup {
  readonly runtimes: readonly string[];
  /** The command that tests the repository; empty: none. */
  readonly verify: string;
  /** Limit of a run. */
  readonly usd: number;
}

/** Asks at the terminal what `squad.yaml` should say; what was found is the answer of Enter. undefined: the person broke off. */
export async function askSetup(found: Setup & { readonly others: readonly string[] }): Promise<Setup | undefined> {
  const runtimes = await askRuntimes(found);
  if (isCancel(runtimes)) return undefined;
  const verify = await text({
    message: behindBar(
      'Which command tests this repository? squad runs it before work counts as delivered. Leave it empty for none.',
    ),
    initialValue: found.verify,
    validate: (value = '') => (value.trim() === '' ? undefined : commandRefusal(value)),
  });
  if (isCancel(verify)) return undefined;
  const usd = await text({
    message: behindBar('How much may a run cost at most, in USD?'),
    initialValue: String(found.usd),
    validate: (value = '') => (isAmount(Number(value)) ? undefined : 'Write an amount above 0, such as 5.'),
  });
  return isCancel(usd) ? undefined : { runtimes, verify: verify.trim(), usd: Number(usd) };
}

async function askRuntimes({ runtimes, others }: { runtimes: readonly string[]; others: readonly string[] }) {
  const found = [...runtimes, ...others];
  if (found.length < 2) return found;
  return multiselect({
    message: 'Which runtimes may agents use?',
    options: found.map((value) => ({ value, label: value })),
    initialValues: [...(runtimes.length === 0 ? others : runtimes)],
    required: true,
  });
}

function isAmount(usd: number): boolean {
  return usd > 0 && usd <= 1_000_000;
}
