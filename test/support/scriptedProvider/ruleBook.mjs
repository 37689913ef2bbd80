/** Picks the behaviour for a call: the first rule all of whose conditions hold and that has not been used up. */
export const ruleBook = (script) => {
  const used = new Map()
  const sends = new Map()
  const rules = script.rules ?? []
  let calls = 0

  const holds = (when, asked, nth, nthOfKey) =>
    (when.call === undefined || when.call === nth) &&
    (when.callsFrom === undefined || nth >= when.callsFrom) &&
    (when.callsTo === undefined || nth <= when.callsTo) &&
    (when.key === undefined || when.key === asked.call.idempotencyKey) &&
    (when.promptIncludes === undefined || asked.prompt.includes(when.promptIncludes)) &&
    (when.firstSendOfKey === undefined || when.firstSendOfKey === (nthOfKey === 1)) &&
    (when.nthOfKey === undefined || when.nthOfKey === nthOfKey)

  return {
    replay: script.replay === true,
    pick: (asked) => {
      calls += 1
      const nthOfKey = (sends.get(asked.call.idempotencyKey) ?? 0) + 1
      sends.set(asked.call.idempotencyKey, nthOfKey)
      const found = rules.findIndex(
        (rule, index) =>
          holds(rule.when ?? {}, asked, calls, nthOfKey) && (used.get(index) ?? 0) < (rule.times ?? Infinity),
      )
      if (found === -1) return script.default ?? {}
      used.set(found, (used.get(found) ?? 0) + 1)
      return { ...script.default, ...rules[found].answer }
    },
  }
}
