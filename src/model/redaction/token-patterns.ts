/** `sk-admin-panel-component` is a file name, not a key. */
const NO_NAME = String.raw`(?=[\w-]{0,80}[A-Z0-9])`;
/** `MembershipInvitations.delete.…` is code. */
const NO_CODE = String.raw`(?=[\w.-]{0,80}\d)`;
/** `postgres:postgres@localhost` protects nothing, and many test commands contain it. */
const NO_DEFAULT = String.raw`(?!(?<user>[^\s/:@"'<>]{1,100}):\k<user>@)`;

/** Shapes of well-known credentials. Each takes linear time on any text. The names are for tests and people. */
export const TOKEN_PATTERNS: Readonly<Record<string, string>> = {
  // OpenAI, Anthropic and others.
  'api key': String.raw`sk-(?:(?:ant|proj|svcacct|admin|or|lf)-${NO_NAME}[\w-]{20,}|[A-Za-z0-9]{20,})`,
  'github token': 'gh[pousr]_[A-Za-z0-9]{30,}',
  'github fine-grained token': String.raw`github_pat_\w{22,}`,
  'gitlab token': String.raw`gl(?:pat|ptt|rt|dt|cbt|ft|soat|imt|agent)-${NO_NAME}[\w-]{20,}`,
  'slack token': String.raw`xox[abeoprs]-${NO_CODE}[A-Za-z0-9-]{10,}`,
  'slack app token': 'xapp-[A-Za-z0-9-]{10,}',
  'slack webhook': String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{10,}`,
  'discord webhook': String.raw`discord(?:app)?\.com/api/webhooks/\d{5,25}/[\w-]{20,}`,
  'discord bot token': String.raw`[MNO]${NO_CODE}[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}`,
  'telegram bot token': String.raw`\d{8,10}:AA[\w-]{32,}`,
  'aws access key': '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
  'google api key': String.raw`AIza[\w-]{35}`,
  'google access token': String.raw`ya29\.[\w-]{20,}`,
  'google client secret': String.raw`GOCSPX-[\w-]{20,}`,
  'azure storage key': 'AccountKey=[A-Za-z0-9+/]{40,}={0,2}',
  'stripe key': '[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'stripe webhook secret': 'whsec_[A-Za-z0-9+/]{24,}={0,2}',
  'twilio key': 'SK[0-9a-f]{32}',
  'sendgrid key': String.raw`SG\.${NO_CODE}[\w-]{16,100}\.[\w-]{16,}`,
  'npm token': 'npm_[A-Za-z0-9]{36}',
  'pypi token': String.raw`pypi-[\w-]{50,}`,
  'hugging face token': 'hf_[A-Za-z0-9]{30,}',
  'groq key': 'gsk_[A-Za-z0-9]{40,}',
  'xai key': 'xai-[A-Za-z0-9]{40,}',
  'replicate token': 'r8_[A-Za-z0-9]{30,}',
  'digitalocean token': 'do[opr]_v1_[0-9a-f]{64}',
  'databricks token': 'dapi[0-9a-f]{32}',
  'vault token': String.raw`hv[sbr]\.${NO_CODE}[\w-]{24,}`,
  'linear key': 'lin_(?:api|oauth)_[A-Za-z0-9]{32,}',
  'notion token': '(?:ntn|secret)_[A-Za-z0-9]{40,}',
  'shopify token': 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'langsmith key': 'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}',
  'atlassian token': String.raw`ATATT3[\w=-]{40,}`,
  'age key': 'AGE-SECRET-KEY-1[0-9A-Z]{58}',
  'json web token': String.raw`(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*`,
  'authorization header': String.raw`(?:Bearer|Authorization:[ \t]{0,4}Basic)[ \t]{1,4}(?=\S{0,160}\d)[\w.~+/-]{16,}={0,2}`,
  'password in an address': String.raw`://${NO_DEFAULT}[^\s/:@"'<>]{0,100}:(?!\$\{)[^\s/@"'<>]{3,200}@`,
  'private key': String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,32768}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
};
