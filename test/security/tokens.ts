const LETTERS = 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z';

/** Put together here, so that no scanner takes this file for a leak. `kept`: what of the sample is not the credential. */
export function tokenSamples(): Readonly<Record<string, { readonly token: string; readonly kept?: string }>> {
  const of = (length: number): string => LETTERS.repeat(Math.ceil(length / LETTERS.length)).slice(0, length);
  const hex = (length: number): string => '0123456789abcdef'.repeat(8).slice(0, length);
  const samples: Record<string, string> = {
    'api key': `sk-ant-${of(40)}`,
    'github token': `ghp_${of(36)}`,
    'github fine-grained token': `github_pat_${of(22)}_${of(40)}`,
    'gitlab token': `glpat-${of(20)}`,
    'slack token': `xoxb-123456789012-${of(24)}`,
    'slack app token': `xapp-1-A123-${of(20)}`,
    'slack webhook': `hooks.slack.com/services/T000/B000/${of(24)}`,
    'discord webhook': `discord.com/api/webhooks/123456789012345678/${of(40)}`,
    'discord bot token': `M${of(23)}.${of(6)}.${of(27)}`,
    'telegram bot token': `123456789:AA${of(33)}`,
    'aws access key': ['AKIA', 'ABCDEFGH23456789'].join(''),
    'google api key': `AIza${of(35)}`,
    'google access token': `ya29.${of(40)}`,
    'google client secret': `GOCSPX-${of(28)}`,
    'azure storage key': `AccountKey=${of(86)}==`,
    'stripe key': `sk_live_${of(24)}`,
    'stripe webhook secret': `whsec_${of(32)}`,
    'twilio key': `SK${hex(32)}`,
    'sendgrid key': `SG.${of(22)}.${of(43)}`,
    'npm token': `npm_${of(36)}`,
    'pypi token': `pypi-${of(60)}`,
    'hugging face token': `hf_${of(34)}`,
    'groq key': `gsk_${of(52)}`,
    'xai key': `xai-${of(80)}`,
    'replicate token': `r8_${of(37)}`,
    'digitalocean token': `dop_v1_${hex(64)}`,
    'databricks token': `dapi${hex(32)}`,
    'vault token': `hvs.${of(24)}`,
    'linear key': `lin_api_${of(40)}`,
    'notion token': `ntn_${of(46)}`,
    'shopify token': `shpat_${hex(32)}`,
    'langsmith key': `lsv2_pt_${hex(32)}_${hex(10)}`,
    'atlassian token': `ATATT3${of(60)}`,
    'age key': `AGE-SECRET-KEY-1${of(58).toUpperCase()}`,
    'json web token': `eyJ${of(30)}.eyJ${of(60)}.${of(43)}`,
    'authorization header': `Bearer ${of(40)}`,
    'private key': `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${of(64)}\n${of(30)}=\n-----END RSA PRIVATE KEY-----`,
  };
  const plain = Object.fromEntries(Object.entries(samples).map(([name, token]) => [name, { token }]));
  return { ...plain, 'password in an address': { token: '://user:pa55word@', kept: '' } };
}
