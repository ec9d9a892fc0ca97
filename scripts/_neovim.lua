-- nvim-dap joins an agent's session, steps, and reads the variables: run by scripts/editor in a headless neovim.
-- Prints one line of JSON for each thing that it sees; ends when it has seen all, or after 20 seconds.

local dap = require('dap')
local port, token = tonumber(vim.env.DAP_PORT), vim.env.DAP_TOKEN

local function told(what)
  io.stdout:write(vim.fn.json_encode(what) .. '\n')
  io.stdout:flush()
end

local function finish()
  dap.disconnect({ terminateDebuggee = false })
  vim.defer_fn(function() vim.cmd('qa!') end, 300)
end

local stops = 0
dap.listeners.after.event_stopped['seen'] = function(session, body)
  stops = stops + 1
  local nth = stops
  session:request('stackTrace', { threadId = body.threadId, startFrame = 0, levels = 1 }, function(err, stack)
    assert(not err, vim.inspect(err))
    local frame = stack.stackFrames[1]
    session:request('scopes', { frameId = frame.id }, function(_, scopes)
      session:request('variables', { variablesReference = scopes.scopes[1].variablesReference }, function(_, found)
        local names = {}
        for _, each in ipairs(found.variables) do names[each.name] = each.value end
        told({ reason = body.reason, line = frame.line, ['function'] = frame.name, variables = names })
        if nth == 1 then dap.step_over() else finish() end
      end)
    end)
  end)
end

vim.defer_fn(function() told({ failed = 'no answer in 20 seconds' }) vim.cmd('cq') end, 20000)
dap.adapters['trio-debugmcp'] = { type = 'server', host = '127.0.0.1', port = port }
dap.run({ type = 'trio-debugmcp', request = 'attach', name = 'Join the agent', token = token })
