@echo off
rem Starts the MCP server on Windows: finds anamnesis.exe and runs it with the
rem arguments given. Hooks run the script beside this one, in Git Bash. Without the
rem program it exits 1, with the hint on standard error.
setlocal EnableExtensions DisableDelayedExpansion
set "program=%ANAMNESIS_BIN%"
if not defined program for %%P in (anamnesis.exe) do set "program=%%~$PATH:P"
if not defined program if defined GOBIN if exist "%GOBIN%\anamnesis.exe" set "program=%GOBIN%\anamnesis.exe"
if not defined program if defined GOPATH if exist "%GOPATH%\bin\anamnesis.exe" set "program=%GOPATH%\bin\anamnesis.exe"
if not defined program if exist "%USERPROFILE%\go\bin\anamnesis.exe" set "program=%USERPROFILE%\go\bin\anamnesis.exe"
if not defined program if exist "%USERPROFILE%\.local\bin\anamnesis.exe" set "program=%USERPROFILE%\.local\bin\anamnesis.exe"
if not defined program if exist "%USERPROFILE%\.anamnesis\bin\anamnesis.exe" set "program=%USERPROFILE%\.anamnesis\bin\anamnesis.exe"
if not defined program goto missing
if not exist "%program%" goto missing
"%program%" %*
exit /b %ERRORLEVEL%

:missing
>&2 echo anamnesis: the plugin does not find its program. Run "go install ." in a checkout of anamnesis, or set ANAMNESIS_BIN to the path of anamnesis.exe, then start a new session.
exit /b 1
