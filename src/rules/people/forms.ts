/** All that a text can mean by a form that is listed here. The other texts are free, and a model reads them. */
export const MEANINGS = [
  'request',
  'status',
  'status-of',
  'cancel',
  'sprint-start',
  'sprint-stop',
  'sprint-stop-now',
  'sprint-status',
  'action',
  'answer',
  'answer-to',
  'yes',
  'no',
] as const;
export type Meaning = (typeof MEANINGS)[number];

/** In each, `{text}` is any text, `{request}` and `{id}` are ids, `{name}` is an action with its arguments, `{run}` a run's name. */
type Forms = Readonly<Record<Meaning, string>>;

/** The exact commands. They may begin with `squad`. */
export const COMMANDS: Forms = {
  request: 'request {text}',
  status: 'status',
  'status-of': 'status {id}',
  cancel: 'cancel {request}',
  'sprint-start': 'sprint start {text}',
  'sprint-stop': 'sprint stop',
  'sprint-stop-now': 'sprint stop now | sprint stop --now',
  'sprint-status': 'sprint status',
  action: 'execute {name}',
  answer: 'answer: {text}',
  'answer-to': 'answer to {run}: {text}',
  yes: 'yes',
  no: 'no',
};

const ENGLISH: Forms = {
  request: 'new request: {text} | todo: {text} | task: {text} | feature: {text} | bug: {text} | please do: {text}',
  status:
    "what is the status | what's the status | how is it going | how's it going | how far are you | what are you working on | any news | progress | show the status",
  'status-of': 'status of {id} | how is {id} | how is {id} going | what about {id} | show {id} | {id} status',
  cancel: 'cancel request {request} | drop {request} | withdraw {request} | forget {request} | {request} cancel',
  'sprint-start': 'start sprint: {text} | new sprint: {text}',
  'sprint-stop': 'stop sprint | end sprint | sprint end | wrap up sprint | sprint wrap up',
  'sprint-stop-now': 'stop sprint now | end sprint now | sprint end now | abort sprint',
  'sprint-status':
    "sprint | how is the sprint | how is the sprint going | how's the sprint | status of the sprint | show the sprint | sprint progress",
  action: 'run action {name}',
  answer: 'reply: {text} | my answer: {text}',
  'answer-to': 'reply to {run}: {text} | answer for {run}: {text}',
  yes: 'y | yep | yeah | yes please | ok | okay | sure | confirm | confirmed | i confirm | go ahead | do it | approved',
  no: "n | nope | no thanks | cancel | don't | do not | don't do it | never mind | nevermind | forget it | leave it | not now",
};

const KOREAN: Forms = {
  request:
    '요청: {text} | 작업 요청: {text} | 부탁: {text} | 작업: {text} | 할 일: {text} | 기능: {text} | 버그: {text}',
  status:
    '상태 | 상황 | 현황 | 진행 상황 | 진행 상황은 | 진행 상황 알려줘 | 상태 알려줘 | 현재 상태 | 지금 상태 | 어떻게 되고 있어 | 어떻게 되어 가 | 어디까지 했어',
  'status-of': '상태 {id} | {id} 상태 | {id} 상태 알려줘 | {id} 진행 상황 | {id} 어떻게 됐어',
  cancel: '취소 {request} | {request} 취소 | {request} 취소해 | {request} 취소해줘 | {request} 철회',
  'sprint-start': '스프린트 시작: {text} | 새 스프린트: {text}',
  'sprint-stop': '스프린트 중지 | 스프린트 종료 | 스프린트 정지 | 스프린트 중단 | 스프린트 마무리',
  'sprint-stop-now': '스프린트 즉시 중지 | 스프린트 즉시 종료 | 스프린트 지금 중지 | 스프린트 바로 중지',
  'sprint-status':
    '스프린트 | 스프린트 상태 | 스프린트 현황 | 스프린트 진행 상황 | 스프린트 상태 알려줘 | 스프린트 어떻게 되고 있어',
  action: '작업 실행 {name}',
  answer: '답: {text} | 답변: {text} | 대답: {text}',
  'answer-to': '답변 {run}: {text} | {run} 답변: {text}',
  yes: '네 | 예 | 응 | 넵 | ㅇㅇ | ㅇㅋ | 그래 | 좋아 | 좋아요 | 확인 | 진행해 | 진행해줘 | 맞아 | 맞아요 | 해줘 | 승인',
  no: '아니 | 아니요 | 아니오 | 아뇨 | ㄴㄴ | 취소 | 취소해 | 취소해줘 | 하지 마 | 하지 마세요 | 됐어 | 안 돼 | 거절',
};

const CHINESE: Forms = {
  request: '请求: {text} | 需求: {text} | 提交需求: {text} | 任务: {text} | 功能: {text} | 待办: {text} | 缺陷: {text}',
  status:
    '状态 | 狀態 | 进度 | 進度 | 进展 | 進展 | 情况 | 现在怎么样 | 现在怎么样了 | 进展如何 | 进度如何 | 做到哪里了 | 有什么进展 | 目前状态 | 当前状态 | 查看状态',
  'status-of': '状态 {id} | {id} 状态 | {id} 的状态 | {id} 进度 | {id} 怎么样了 | 查看 {id}',
  cancel: '取消 {request} | {request} 取消 | 取消请求 {request} | 撤销 {request} | 撤回 {request}',
  'sprint-start': '开始冲刺: {text} | 启动冲刺: {text} | 冲刺开始: {text} | 新冲刺: {text} | 开始迭代: {text}',
  'sprint-stop': '停止冲刺 | 结束冲刺 | 冲刺停止 | 冲刺结束 | 停止迭代 | 结束迭代',
  'sprint-stop-now': '立即停止冲刺 | 马上停止冲刺 | 立刻停止冲刺 | 立即结束冲刺',
  'sprint-status': '冲刺 | 冲刺状态 | 冲刺进度 | 冲刺进展如何 | 冲刺怎么样了 | 查看冲刺 | 迭代状态 | 迭代进度',
  action: '执行操作 {name}',
  answer: '回答: {text} | 答复: {text} | 答案: {text} | 回复: {text}',
  'answer-to': '回答 {run}: {text} | 答复 {run}: {text} | 回复 {run}: {text}',
  yes: '是 | 是的 | 好 | 好的 | 好吧 | 对 | 对的 | 可以 | 行 | 确认 | 确定 | 同意 | 没问题 | 嗯 | 批准',
  no: '不 | 不是 | 不要 | 不行 | 不用 | 不用了 | 不可以 | 不同意 | 不对 | 否 | 取消 | 算了 | 别 | 拒绝 | 先不要',
};

const GERMAN: Forms = {
  request:
    'anfrage: {text} | aufgabe: {text} | neue aufgabe: {text} | auftrag: {text} | wunsch: {text} | fehler: {text} | bitte: {text}',
  status:
    "stand | stand der dinge | fortschritt | wie ist der stand | was ist der stand | wie steht es | wie steht's | wie läuft es | wie läuft's | wie weit seid ihr | was gibt es neues | gibt es neues | zeig den status",
  'status-of':
    'status von {id} | stand von {id} | wie steht es um {id} | wie steht es mit {id} | was ist mit {id} | zeig {id}',
  cancel:
    'storniere {request} | {request} stornieren | {request} abbrechen | {request} zurückziehen | anfrage {request} abbrechen',
  'sprint-start': 'sprint starten: {text} | starte sprint: {text} | sprint beginnen: {text} | neuer sprint: {text}',
  'sprint-stop':
    'sprint stoppen | sprint beenden | sprint anhalten | sprint abschließen | stoppe sprint | beende sprint',
  'sprint-stop-now': 'sprint sofort stoppen | sprint sofort beenden | sprint jetzt stoppen | sprint abbrechen',
  'sprint-status':
    'sprintstatus | sprintstand | status des sprints | stand des sprints | wie läuft der sprint | wie steht der sprint | wie ist der stand des sprints',
  action: 'aktion ausführen {name}',
  answer: 'antwort: {text} | meine antwort: {text}',
  'answer-to': 'antwort an {run}: {text} | antwort auf {run}: {text} | antwort für {run}: {text}',
  yes: 'ja | ja bitte | jo | jep | jawohl | klar | einverstanden | bestätigt | ich bestätige | mach das | mach es | genau | stimmt | passt | in ordnung',
  no: 'nein | nein danke | nee | nö | abbrechen | lieber nicht | doch nicht | lass es | lass das | bitte nicht | vergiss es | jetzt nicht',
};

/** Short forms by language. */
export const SHORT_FORMS = { English: ENGLISH, Korean: KOREAN, Chinese: CHINESE, German: GERMAN } as const;

export function formsOf(forms: string): readonly string[] {
  return forms.split(' | ');
}
