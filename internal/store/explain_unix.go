//go:build unix

package store

import (
	"errors"
	"fmt"
	"syscall"
)

// explain adds the next step to errors whose text alone does not tell it.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; free some room and run the command again: nothing was changed", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w; check who owns the store: nothing was changed", err)
	}
	return err
}
