// This file was written by `anamnesis init`, and `anamnesis uninstall` removes it.
// It calls the program at the events of a session and hands on what it says.
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const commands = {}
const deadline = 10_000 // milliseconds
const watched = new Set(["bash", "edit", "multiedit", "write", "apply_patch", "task"])

// call runs the command of an event and returns its answer, {} for none. It never fails.
const call = (event, payload) =>
  new Promise((resolve) => {
    if (!commands[event]) return resolve({})
    let out = ""
    const done = () => {
      try {
        resolve(JSON.parse(out))
      } catch {
        resolve({})
      }
    }
    try {
      const child = spawn(commands[event], { shell: true, stdio: ["pipe", "pipe", "ignore"], timeout: deadline, killSignal: "SIGKILL" })
      child.on("error", () => resolve({}))
      child.on("close", done)
      child.stdout.on("data", (data) => (out += data))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve({})
    }
  })

export const Anamnesis = async ({ directory }) => {
  if (process.env.ANAMNESIS_DISABLED) return {}
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  const database = process.env.OPENCODE_DB || join(data, "opencode", "opencode.db")
  const children = new Set() // sessions of sub-agents
  const started = new Map() // what each session was shown at its start
  const shown = new Map() // what is said about a call of a tool, until it is over

  const payload = (event, session, more) => ({
    harness: "opencode",
    hook_event_name: event,
    session_id: session,
    transcript_path: database,
    cwd: directory,
    ...more,
  })
  const start = (session, source) => {
    if (!started.has(session)) started.set(session, call("SessionStart", payload("SessionStart", session, { source })))
    return started.get(session)
  }

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session) return
      if (event.type === "session.created") {
        if (event.properties.info?.parentID) children.add(session)
        else await start(session, "startup")
      } else if (event.type === "session.compacted" && !children.has(session)) {
        await call("PostCompact", payload("PostCompact", session, {}))
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID
      if (children.has(session)) return
      await start(session, "resume")
      const last = output.parts.at(-1)
      const prompt = output.parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      const answer = await call("UserPromptSubmit", payload("UserPromptSubmit", session, { prompt, turn_id: output.message.id }))
      if (answer.additionalContext && last?.id) {
        const text = answer.additionalContext
        output.parts.push({ id: last.id + "z", sessionID: session, messageID: output.message.id, type: "text", text, synthetic: true })
      }
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const answer = sessionID && (await started.get(sessionID))
      if (answer?.additionalContext) output.system.push(answer.additionalContext)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      if (!watched.has(tool)) return
      const more = { tool_name: tool, tool_input: output.args }
      const answer = await call("PreToolUse", payload("PreToolUse", sessionID, more))
      if (answer.deny) throw new Error(answer.deny)
      if (answer.tool_input) Object.assign(output.args, answer.tool_input)
      if (answer.additionalContext) shown.set(callID, answer.additionalContext)
    },
    "tool.execute.after": async ({ callID }, output) => {
      const text = shown.get(callID)
      shown.delete(callID)
      if (text && typeof output.output === "string") output.output += "\n" + text
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (!children.has(sessionID)) await call("PreCompact", payload("PreCompact", sessionID, { trigger: "auto" }))
    },
    dispose: async () => {
      for (const session of started.keys()) await call("SessionEnd", payload("SessionEnd", session, { reason: "other" }))
    },
  }
}
