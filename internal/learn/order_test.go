package learn_test

import (
	"testing"

	"anamnesis/internal/learn"
)

// ordered returns what a person orders to remember in a prompt, the last one.
func ordered(typed string) (rule string) {
	for _, o := range learn.Orders(talk("> "+typed), nil) {
		rule = o.Rule
	}
	return rule
}

// An order is the imperative at the beginning of a sentence, with a colon or the clause that it governs, in the languages
// of the small talk list.
func TestOrderLanguages(t *testing.T) {
	for said, want := range map[string]string{
		"ok, remember: the prices are integers":                   "The prices are integers",
		"Always remember that invoices are immutable":             "Invoices are immutable",
		"don't forget: migrations run by hand":                    "Migrations run by hand",
		"Please keep in mind: the CI has no network":              "The CI has no network",
		"**Remember:** never call the ledger twice":               "Never call the ledger twice",
		"No, remember this: we use pnpm here":                     "We use pnpm here",
		"Don't forget that staging has no GPU":                    "Staging has no GPU",
		"denk daran: pay/legacy.go niemals anfassen":              "pay/legacy.go niemals anfassen",
		"Denk bitte immer daran, dass die Preise netto sind":      "Die Preise netto sind",
		"Vergiss nicht: Migrationen laufen von Hand":              "Migrationen laufen von Hand",
		"Merk dir bitte folgendes: wir nutzen pnpm":               "Wir nutzen pnpm",
		"Bitte merken: keine Emojis in Commits":                   "Keine Emojis in Commits",
		"retiens : ne touche jamais à pay/legacy.go":              "Ne touche jamais à pay/legacy.go",
		"Souviens-toi que les dates sont en UTC":                  "Les dates sont en UTC",
		"n'oublie pas qu'on utilise pnpm ici":                     "On utilise pnpm ici",
		"N’oubliez jamais : les prix sont hors taxes":             "Les prix sont hors taxes",
		"À retenir : la base de test est partagée":                "La base de test est partagée",
		"recuerda: nunca uses npm aquí":                           "Nunca uses npm aquí",
		"Por favor, acuérdate de que los precios van sin IVA":     "Los precios van sin IVA",
		"No olvides que la API corta a los 30 segundos":           "La API corta a los 30 segundos",
		"A partir de ahora, escribe los commits en inglés":        "Escribe los commits en inglés",
		"ricorda: non toccare mai pay/legacy.go":                  "Non toccare mai pay/legacy.go",
		"Ricordati che i prezzi sono in centesimi":                "I prezzi sono in centesimi",
		"D'ora in poi scrivi i commit in inglese":                 "Scrivi i commit in inglese",
		"lembre-se: nunca mexa em pay/legacy.go":                  "Nunca mexa em pay/legacy.go",
		"Lembra-te de que os preços são em cêntimos":              "Os preços são em cêntimos",
		"Não se esqueça que o deploy é manual":                    "O deploy é manual",
		"onthoud: nooit npm gebruiken in deze repo":               "Nooit npm gebruiken in deze repo",
		"Vergeet niet dat de prijzen exclusief btw zijn":          "De prijzen exclusief btw zijn",
		"Voortaan schrijf je commits in het Engels":               "Schrijf je commits in het Engels",
		"pamiętaj: nigdy nie używaj npm":                          "Nigdy nie używaj npm",
		"Zapamiętaj, że ceny są w groszach":                       "Ceny są w groszach",
		"Od teraz commity piszemy po angielsku":                   "Commity piszemy po angielsku",
		"запомни: никогда не трогай pay/legacy.go":                "Никогда не трогай pay/legacy.go",
		"Пожалуйста, запомните, что цены в копейках":              "Цены в копейках",
		"не забывай: миграции запускаются вручную":                "Миграции запускаются вручную",
		"Впредь пиши коммиты на английском":                       "Пиши коммиты на английском",
		"Запам'ятай: ціни завжди в копійках":                      "Ціни завжди в копійках",
		"kom ihåg: använd aldrig npm här":                         "Använd aldrig npm här",
		"Kom ihåg att priserna är i ören":                         "Priserna är i ören",
		"husk: brug aldrig npm i dette repo":                      "Brug aldrig npm i dette repo",
		"Husk at priserne er i øre":                               "Priserne er i øre",
		"Fra nå av skriver vi commits på engelsk":                 "Skriver vi commits på engelsk",
		"muista: älä käytä npm:ää täällä":                         "Älä käytä npm:ää täällä",
		"zapamatuj si: ceny jsou v haléřích":                      "Ceny jsou v haléřích",
		"jegyezd meg, hogy az árak fillérben vannak":              "Az árak fillérben vannak",
		"Ține minte că prețurile sunt în bani":                    "Prețurile sunt în bani",
		"unutma: fiyatlar kuruş olarak tutulur":                   "Fiyatlar kuruş olarak tutulur",
		"ingat: jangan pakai npm di sini":                         "Jangan pakai npm di sini",
		"请记住：提交信息一律用英文":                                           "提交信息一律用英文",
		"记住不要用 npm":                                               "不要用 npm",
		"記住：價格都是整數":                                               "價格都是整數",
		"以后提交信息都用英文写":                                             "提交信息都用英文写",
		"以后都用 pnpm":                                               "用 pnpm",
		"从现在开始，测试都要连真实数据库":                                        "测试都要连真实数据库",
		"別忘了：部署要手動執行":                                             "部署要手動執行",
		"覚えておいて：コミットメッセージは英語で書く":                                  "コミットメッセージは英語で書く",
		"テストは本物のデータベースで実行することを覚えておいてください。":                        "テストは本物のデータベースで実行する",
		"今後は npm を使わないでください":                                      "npm を使わないでください",
		"기억해: 커밋 메시지는 영어로 써":                                      "커밋 메시지는 영어로 써",
		"앞으로는 npm을 쓰지 마세요":                                        "npm을 쓰지 마세요",
		"가격은 항상 정수라는 걸 기억해 주세요":                                   "가격은 항상 정수",
		"תזכור: המחירים תמיד באגורות":                             "המחירים תמיד באגורות",
		"تذكر: الأسعار دائما بالقروش":                             "الأسعار دائما بالقروش",
		"याद रखो: कीमतें हमेशा पैसे में हैं":                      "कीमतें हमेशा पैसे में हैं",
		"Prices are integers here. Remember that.":                "Prices are integers here.",
		"Die Preise sind netto. Merk dir das bitte.":              "Die Preise sind netto.",
		"Les dates sont en UTC. Retiens-le.":                      "Les dates sont en UTC.",
		"Los precios van sin IVA. Recuérdalo.":                    "Los precios van sin IVA.",
		"Цены всегда в копейках. Запомни это.":                    "Цены всегда в копейках.",
		"价格都是整数，没有小数。记住这点。":                                       "价格都是整数，没有小数。",
		"Ceny są w groszach, zawsze. Zapamiętaj to!":              "Ceny są w groszach, zawsze.",
		"Priserna är alltid i ören. Kom ihåg det.":                "Priserna är alltid i ören.",
		"Fix the tests.\nRemember: they need the real database":   "They need the real database",
		"Répare les tests.\nRetiens : ils veulent une vraie base": "Ils veulent une vraie base",
	} {
		if got := ordered(said); got != want {
			t.Errorf("%q orders %q, want %q", said, got, want)
		}
	}
}

// A report, a question, a task and a name are no orders.
func TestNoOrders(t *testing.T) {
	for _, said := range []string{
		"I remember that the prices were floats once",
		"do you remember that the build was red yesterday?",
		"Remember the failing test from yesterday?",
		"The remember me checkbox is broken on Safari",
		"remember me stays checked after logout",
		"you said you would remember: you did not",
		"Users can't remember their passwords, add a reset link",
		"don't forget to add the test for the empty cart",
		"He told me to remember: never trust the cache",
		"Note that the build is red since this morning",
		"Move the button to the left. Keep it.",
		"Rename the file. Write it again.",
		"remember: { type: Boolean, default: false }",
		"The page must remember that the user has logged in",
		"Ich habe mir gemerkt, dass die Preise netto sind",
		"Der Nutzer merkt sich, dass er abgemeldet wurde",
		"Denkst du daran, dass die Preise netto sind?",
		"Denk dir einen besseren Namen für die Funktion aus",
		"Die Merken-Funktion im Shop ist kaputt, bitte reparieren",
		"Vergiss es, wir machen morgen damit weiter",
		"Je me souviens que les dates étaient en heure locale",
		"On retient que le build est cassé depuis ce matin",
		"Tu te souviens que le build était cassé ?",
		"N'oublie pas de lancer les tests avant de finir",
		"Il n'oublie pas que le cache est froid",
		"El sistema recuerda que el usuario ya entró",
		"¿Recuerdas que el build estaba roto?",
		"Recordar contraseña no funciona en Safari",
		"No olvides añadir la prueba del carrito vacío",
		"Il sistema ricorda che l'utente è entrato",
		"Mi ricordo che i prezzi erano decimali",
		"Non dimenticare di aggiungere il test",
		"Lembra que a gente falou disso ontem",
		"O usuário lembra que a senha mudou",
		"Weet je nog dat de build rood was?",
		"De app onthoudt dat de gebruiker is ingelogd",
		"Pamiętam, że ceny były zmiennoprzecinkowe",
		"Pamiętasz, że build był czerwony?",
		"Я запомнил, что цены были дробными",
		"Помнишь, что сборка падала вчера?",
		"Форма не запоминает, что пользователь вошёл",
		"Jag kommer ihåg att bygget var rött",
		"Glöm inte att lägga till testet",
		"Kan du huske at bygget var rødt?",
		"Appen husker at brukeren er logget inn",
		"我记得价格以前是小数",
		"记住密码功能坏了，请修复",
		"你还记得昨天构建失败的原因吗？",
		"以后再看这个问题，先修复构建",
		"ログイン状態を覚えておく機能が壊れています",
		"昨日のビルドのこと、覚えていますか？",
		"앞으로 가기 버튼이 동작하지 않아요",
		"로그인 상태를 기억하는 기능이 고장났어요",
		"Kullanıcı şifresini hatırlamıyor, sıfırlama ekle",
		"Minne on kadonnut se testi, joka eilen kaatui",
		"Remember how we fixed the cache last week? Do the same here",
		"I can't remember: was it port 80 or 8080?",
		"The 'remember this device' option is ignored on Firefox",
		"She said to remember that the cache is cold",
		"Forgetting the lock is what caused this",
		"Merkt der Parser sich die letzte Zeile?",
		"Ich denke daran, dass wir das auch streamen könnten",
		"Die Erinnerung wird zweimal verschickt, bitte beheben",
		"Rappelle l'API une fois de plus si elle échoue",
		"Souvenirs de la réunion : rien d'utile",
		"Recuerdo que lo hicimos con Redis",
		"El olvido de contraseña no manda correo",
		"Ricordo che usavamo Redis",
		"Lembro que usamos Redis antes",
		"Ik onthoud dat nooit, zoek het op",
		"Zapomniałem, że build jest czerwony",
		"Не помню, что там было, проверь",
		"Jag glömde att pusha grenen",
		"Jeg husker at vi brukte Redis",
		"记忆功能的测试失败了，看一下",
		"我忘了说，构建在 CI 上失败",
		"忘れ物チェック機能のテストを直して",
		"기억나지 않는데, 지난번 오류가 뭐였지",
		"From now the button should be green? I think so?",
		"Don't forget the semicolon on line 3",
	} {
		if got := ordered(said); got != "" {
			t.Errorf("%q orders %q", said, got)
		}
	}
}

// These were written after the list, to see what it is worth: 23 of 25 were found before it was changed for them.
func TestOrdersUnseen(t *testing.T) {
	for _, said := range []string{
		"Hey, please remember that the staging bucket is read-only",
		"memorize: our API paginates with cursors",
		"Und merk dir: Fehlermeldungen immer auf Deutsch",
		"Denke daran, dass der Kunde nur Oracle hat",
		"Mémorise : les logs vont dans Loki",
		"Et retiens bien que la branche par défaut est develop",
		"Acuérdate: los tests de pagos tardan diez minutos",
		"Ten en cuenta que el cliente usa Windows",
		"Tieni a mente: il server gira su ARM",
		"Ricorda sempre: niente emoji nei commit",
		"Lembre que a fila é FIFO",
		"Onthoud goed: de klant draait op Windows",
		"Nie zapominaj, że serwer ma tylko 2 GB pamięci",
		"Учти: у клиента только Oracle",
		"И запомни, пожалуйста: логи лежат в Loki",
		"Tänk på att kunden bara har Windows",
		"Husk på: kunden har kun Windows",
		"Unutma ki müşteri sadece Windows kullanıyor",
		"切记：生产库只读",
		"另外，请记住：日志都在 Loki 里",
		"これだけは覚えておいて、本番データベースは読み取り専用です",
		"本番は読み取り専用だと覚えておいてください",
		"꼭 기억해줘: 운영 DB는 읽기 전용이야",
		"이제부터는 테스트를 먼저 작성해",
	} {
		if ordered(said) == "" {
			t.Errorf("%q orders nothing", said)
		}
	}
}
