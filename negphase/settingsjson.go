package negphase

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// MarshalJSON writes the settings that the kind has; a tuned ladder as the
// text "auto", and infinite temperatures as the text "inf".
func (s Settings) MarshalJSON() ([]byte, error) {
	out := map[string]any{"kind": s.Kind}
	for key, value := range map[string]any{"k": s.K, "swaps": s.Swaps, "chains": s.Chains, "start": s.Start, "block": s.Block, "max": s.Max, "moves": s.Moves} {
		if Has(s.Kind, key) {
			out[key] = value
		}
	}
	// Where zero means a default, a setting is left out with it.
	if Has(s.Kind, "order") && s.Order != "" {
		out["order"] = s.Order
	}
	if Has(s.Kind, "path") && s.Path != "" {
		out["path"] = s.Path
	}
	if Has(s.Kind, "gibbs") && s.Gibbs != 0 {
		out["gibbs"] = s.Gibbs
	}
	if text := s.mover(); text != "" {
		out["mover"] = text
	}
	if Has(s.Kind, "hottest") && s.Hottest != 0 {
		out["hottest"] = jsonNumber(s.Hottest)
	}
	if Has(s.Kind, "tau") && s.Auto {
		out["temperatures"] = s.tau()
	} else if Has(s.Kind, "tau") {
		t := make([]jsonNumber, len(s.Temperatures))
		for i, x := range s.Temperatures {
			t[i] = jsonNumber(x)
		}
		out["temperatures"] = t
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. What is not mentioned stays.
func (s *Settings) UnmarshalJSON(b []byte) error {
	type plain Settings // without methods
	in := struct {
		*plain
		Temperatures json.RawMessage `json:"temperatures"`
		Hottest      *jsonNumber     `json:"hottest"`
		Mover        string          `json:"mover"`
	}{plain: (*plain)(s), Hottest: (*jsonNumber)(&s.Hottest)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Mover != "" {
		if err := s.setMover(strings.Split(in.Mover, ":")); err != nil {
			return err
		}
	}
	if in.Temperatures == nil {
		return nil
	}
	var text string
	if json.Unmarshal(in.Temperatures, &text) == nil {
		return s.SetTemperatures(text)
	}
	var list []jsonNumber
	if err := json.Unmarshal(in.Temperatures, &list); err != nil {
		return err
	}
	s.Auto, s.Rungs, s.Temperatures = false, 0, nil
	for _, x := range list {
		s.Temperatures = append(s.Temperatures, float64(x))
	}
	return nil
}

// A jsonNumber is a number that may be infinite, which JSON's may not.
type jsonNumber float64

func (x jsonNumber) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(x), 0) {
		return json.Marshal(number(float64(x)))
	}
	return json.Marshal(float64(x))
}

func (x *jsonNumber) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*float64)(x))
	}
	f, err := strconv.ParseFloat(text, 64)
	*x = jsonNumber(f)
	return err
}
